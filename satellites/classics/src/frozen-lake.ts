export { environment, measure, references, solver, tasks } from './lib/environments/frozen-lake.ts'
