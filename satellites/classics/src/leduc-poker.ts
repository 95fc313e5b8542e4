export { environment, measure, references, solver, tasks } from './lib/environments/leduc-poker.ts'
