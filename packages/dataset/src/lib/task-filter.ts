import type { Split, Task } from '@episodic/protocol'
import { type DifficultyRange, isInRange } from './difficulty-range.ts'

/** Which tasks are meant; what is left out is not asked for. */
export interface TaskFilter {
  readonly split?: Split
  /** Tags that a task must all have. */
  readonly tags?: readonly string[]
  readonly difficulty?: DifficultyRange
}

export function matchesTask(task: Task, { split, tags = [], difficulty }: TaskFilter): boolean {
  return (
    (split === undefined || task.split === split) &&
    (difficulty === undefined || isInRange(task.difficulty, difficulty)) &&
    tags.every((tag) => task.tags.includes(tag))
  )
}
