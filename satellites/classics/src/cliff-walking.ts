export { environment, measure, references, solver, tasks } from './lib/environments/cliff-walking.ts'
