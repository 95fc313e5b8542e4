export { environment } from './lib/sokoban/environment.ts'
export { references } from './lib/sokoban/references.ts'
export { solver } from './lib/sokoban/solver.ts'
export { tasks } from './lib/sokoban/tasks.ts'
