import type { ClassicGame } from '../classic-game.ts'
import { measureOf } from '../measure-reference.ts'
import { environment } from './environment.ts'
import { references } from './references.ts'
import { solver } from './solver.ts'
import { strategies } from './strategies.ts'
import { tasks } from './tasks.ts'

export const iteratedPrisonersDilemma: ClassicGame = { environment, tasks, solver, references, strategies }
export const measure = measureOf(iteratedPrisonersDilemma)
