export { clerk as solver } from './clerk.ts'
export { environment } from './flight-desk.ts'
export { tasks } from './flight-desk-tasks.ts'
