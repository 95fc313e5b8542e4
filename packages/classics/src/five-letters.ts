export { environment } from './lib/five-letters/environment.ts'
export { references } from './lib/five-letters/references.ts'
export { solver } from './lib/five-letters/solver.ts'
export { tasks } from './lib/five-letters/tasks.ts'
