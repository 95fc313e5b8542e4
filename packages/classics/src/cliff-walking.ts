export { environment } from './lib/cliff-walking/environment.ts'
export { references } from './lib/cliff-walking/references.ts'
export { solver } from './lib/cliff-walking/solver.ts'
export { tasks } from './lib/cliff-walking/tasks.ts'
