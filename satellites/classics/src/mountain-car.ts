export { environment, measure, references, solver, tasks } from './lib/environments/mountain-car.ts'
