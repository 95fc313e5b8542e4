export { clerk as solver } from './clerk.ts'
export { createFlightDesk, environment } from './flight-desk.ts'
export { createTasks, tasks } from './flight-desk-tasks.ts'
