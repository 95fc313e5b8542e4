// The tasks of retail with what is known of their users, whose turns are checked.
export { checked as tasks, environment, policies, solver } from './retail.ts'
