export { type AdaptiveOptions, type AdaptiveState, createAdaptiveCurriculum } from './lib/adaptive-curriculum.ts'
export { checkTask, parseTask } from './lib/check-task.ts'
export { type CheckOptions, checkLines, checkTasks } from './lib/check-tasks.ts'
export type { Curriculum } from './lib/curriculum.ts'
export { DatasetError, type DatasetErrorCode } from './lib/dataset-error.ts'
export { defineTasks, type TaskContext, type TaskDraft, type TasksDefinition } from './lib/define-tasks.ts'
export type { DifficultyRange } from './lib/difficulty-range.ts'
export { type GenerateOptions, generateTasks } from './lib/generate-tasks.ts'
export type { Line } from './lib/line.ts'
export type { Rows } from './lib/rows.ts'
export { type SampleOptions, sampleTasks } from './lib/sample-tasks.ts'
export { DEFAULT_SPLITS, type SplitRatios, splitOf } from './lib/split.ts'
export {
  createStagedCurriculum,
  defineStages,
  type Stage,
  type StagedOptions,
  type StagedState,
} from './lib/staged-curriculum.ts'
export {
  type LimitSummary,
  type SummarizeOptions,
  summarizeTasks,
  type Tally,
  type TaskSummary,
} from './lib/summarize-tasks.ts'
export type { AnyParams, TaskEnvironment } from './lib/task-environment.ts'
export type { TaskFilter } from './lib/task-filter.ts'
export { taskId } from './lib/task-id.ts'
export type { FieldProblem, TaskProblem, TaskProblemCode } from './lib/task-problem.ts'
