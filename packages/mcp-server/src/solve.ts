export { beliefValue } from './lib/solve/belief-value.ts'
export { gameTree } from './lib/solve/game-tree.ts'
export { type TransitionTable, transitionTable } from './lib/solve/transition-table.ts'
export { valueIteration } from './lib/solve/value-iteration.ts'
