export { environment } from './environment.ts'
export { graders } from './graders.ts'
export { solver } from './solver.ts'
export { tasks } from './tasks.ts'
