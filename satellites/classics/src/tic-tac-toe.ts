export { environment, measure, references, solver, tasks } from './lib/environments/tic-tac-toe.ts'
