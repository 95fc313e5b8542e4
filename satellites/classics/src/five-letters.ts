export { environment, measure, references, solver, tasks } from './lib/environments/five-letters.ts'
