export { environment, measure, policies, references, solver, tasks } from './lib/environments/number-guessing.ts'
