// The tasks of airline with what is known of their users, whose turns are checked.
export { checked as tasks, environment, policies, solver } from './airline.ts'
