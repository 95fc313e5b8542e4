import { stumbling } from './solver.ts'

export { environment } from './environment.ts'
export { solver } from './solver.ts'
export { tasks } from './tasks.ts'

/** Further policies, by the name that `--policy` takes. */
export const policies = { stumbling }
