export { environment, measure, references, solver, tasks } from './lib/environments/rock-paper-scissors.ts'
