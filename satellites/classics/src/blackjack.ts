export { environment, measure, references, solver, tasks } from './lib/environments/blackjack.ts'
