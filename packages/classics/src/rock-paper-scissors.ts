export { environment } from './lib/rock-paper-scissors/environment.ts'
export { references } from './lib/rock-paper-scissors/references.ts'
export { solver } from './lib/rock-paper-scissors/solver.ts'
export { tasks } from './lib/rock-paper-scissors/tasks.ts'
