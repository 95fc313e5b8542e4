export { environment } from './lib/tic-tac-toe/environment.ts'
export { references } from './lib/tic-tac-toe/references.ts'
export { solver } from './lib/tic-tac-toe/solver.ts'
export { tasks } from './lib/tic-tac-toe/tasks.ts'
