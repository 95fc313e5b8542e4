export { environment, measure, references, solver, tasks } from './lib/environments/connect-four.ts'
