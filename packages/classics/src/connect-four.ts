export { environment } from './lib/connect-four/environment.ts'
export { references } from './lib/connect-four/references.ts'
export { solver } from './lib/connect-four/solver.ts'
export { tasks } from './lib/connect-four/tasks.ts'
