export { environment } from './lib/mountain-car/environment.ts'
export { references } from './lib/mountain-car/references.ts'
export { solver } from './lib/mountain-car/solver.ts'
export { tasks } from './lib/mountain-car/tasks.ts'
