export { environment, measure, references, solver, tasks } from './lib/environments/iterated-prisoners-dilemma.ts'
