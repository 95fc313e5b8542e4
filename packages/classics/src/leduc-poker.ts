export { environment } from './lib/leduc-poker/environment.ts'
export { references } from './lib/leduc-poker/references.ts'
export { solver } from './lib/leduc-poker/solver.ts'
export { tasks } from './lib/leduc-poker/tasks.ts'
