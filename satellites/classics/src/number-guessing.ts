export { policies } from './lib/environments/number-guessing/careless.ts'
export { environment, measure, references, solver, tasks } from './lib/environments/number-guessing.ts'
