export { environment } from './environment.ts'
export { solver } from './solver.ts'
