export { environment } from './environment.ts'
export { solver } from './solver.ts'
export { tasks } from './tasks.ts'
