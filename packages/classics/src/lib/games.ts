import type { ClassicGame } from './classic-game.ts'
import { connectFour } from './connect-four/classic.ts'
import { iteratedPrisonersDilemma } from './iterated-prisoners-dilemma/classic.ts'
import { kuhnPoker } from './kuhn-poker/classic.ts'
import { leducPoker } from './leduc-poker/classic.ts'
import { rockPaperScissors } from './rock-paper-scissors/classic.ts'
import { ticTacToe } from './tic-tac-toe/classic.ts'

/** Every game of several seats of this package, in the order of their names. */
export const games: readonly ClassicGame[] = [
  connectFour,
  iteratedPrisonersDilemma,
  kuhnPoker,
  leducPoker,
  rockPaperScissors,
  ticTacToe,
]
