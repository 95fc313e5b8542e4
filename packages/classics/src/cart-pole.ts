export { environment } from './lib/cart-pole/environment.ts'
export { references } from './lib/cart-pole/references.ts'
export { solver } from './lib/cart-pole/solver.ts'
export { tasks } from './lib/cart-pole/tasks.ts'
