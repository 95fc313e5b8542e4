import type { ClassicGame } from './classic-game.ts'
import { connectFour } from './environments/connect-four.ts'
import { iteratedPrisonersDilemma } from './environments/iterated-prisoners-dilemma.ts'
import { kuhnPoker } from './environments/kuhn-poker.ts'
import { leducPoker } from './environments/leduc-poker.ts'
import { rockPaperScissors } from './environments/rock-paper-scissors.ts'
import { ticTacToe } from './environments/tic-tac-toe.ts'

/** Every game of several seats of this package, in the order of their names. */
export const games: readonly ClassicGame[] = [
  connectFour,
  iteratedPrisonersDilemma,
  kuhnPoker,
  leducPoker,
  rockPaperScissors,
  ticTacToe,
]
