export { environment } from './lib/frozen-lake/environment.ts'
export { references } from './lib/frozen-lake/references.ts'
export { solver } from './lib/frozen-lake/solver.ts'
export { tasks } from './lib/frozen-lake/tasks.ts'
