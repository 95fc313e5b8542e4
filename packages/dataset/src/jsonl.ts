export { readLines } from './lib/read-lines.ts'
export { readTasks } from './lib/read-tasks.ts'
export { writeTasks } from './lib/write-tasks.ts'
