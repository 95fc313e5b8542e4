export type { Line } from './lib/line.ts'
export { type ReadLinesOptions, readLines } from './lib/read-lines.ts'
export { type ReadTasksOptions, readTasks } from './lib/read-tasks.ts'
export { type WriteTasksOptions, type WrittenTasks, writeTasks } from './lib/write-tasks.ts'
