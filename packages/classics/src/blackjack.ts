export { environment } from './lib/blackjack/environment.ts'
export { references } from './lib/blackjack/references.ts'
export { solver } from './lib/blackjack/solver.ts'
export { tasks } from './lib/blackjack/tasks.ts'
