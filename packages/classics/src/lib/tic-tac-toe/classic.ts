import type { ClassicGame } from '../classic-game.ts'
import { measureOf } from '../measure-reference.ts'
import { symmetricBoard } from './board.ts'
import { environment } from './environment.ts'
import { references } from './references.ts'
import { solver } from './solver.ts'
import { tasks } from './tasks.ts'

export const ticTacToe: ClassicGame = {
  environment,
  tasks,
  solver,
  references,
  symmetric: ({ board }) => symmetricBoard(String(board)),
}
export const measure = measureOf(ticTacToe)
