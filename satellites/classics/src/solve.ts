export { gameTree } from './lib/solve/game-tree.ts'
export { transitionTable } from './lib/solve/transition-table.ts'
export { valueIteration } from './lib/solve/value-iteration.ts'
