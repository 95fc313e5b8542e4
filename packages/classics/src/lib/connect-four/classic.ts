import type { ClassicGame } from '../classic-game.ts'
import { measureOf } from '../measure-reference.ts'
import { environment } from './environment.ts'
import { references } from './references.ts'
import { solver } from './solver.ts'
import { tasks } from './tasks.ts'

export const connectFour: ClassicGame = { environment, tasks, solver, references }
export const measure = measureOf(connectFour)
