export { environment } from './lib/taxi/environment.ts'
export { references } from './lib/taxi/references.ts'
export { solver } from './lib/taxi/solver.ts'
export { tasks } from './lib/taxi/tasks.ts'
