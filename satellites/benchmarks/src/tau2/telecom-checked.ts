// The tasks of telecom with what is known of their users, whose turns are checked.
export { checked as tasks, environment, policies, solver } from './telecom.ts'
