export { environment, measure, references, solver, tasks } from './lib/environments/cart-pole.ts'
