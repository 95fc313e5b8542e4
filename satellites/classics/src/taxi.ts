export { environment, measure, references, solver, tasks } from './lib/environments/taxi.ts'
