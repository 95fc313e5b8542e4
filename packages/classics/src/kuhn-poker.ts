export { environment } from './lib/kuhn-poker/environment.ts'
export { references } from './lib/kuhn-poker/references.ts'
export { solver } from './lib/kuhn-poker/solver.ts'
export { tasks } from './lib/kuhn-poker/tasks.ts'
