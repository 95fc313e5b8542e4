export { environment, measure, references, solver, tasks } from './lib/environments/kuhn-poker.ts'
