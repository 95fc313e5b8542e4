export { environment } from './lib/iterated-prisoners-dilemma/environment.ts'
export { references } from './lib/iterated-prisoners-dilemma/references.ts'
export { solver } from './lib/iterated-prisoners-dilemma/solver.ts'
export { tasks } from './lib/iterated-prisoners-dilemma/tasks.ts'
