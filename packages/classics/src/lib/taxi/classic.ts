import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { environment } from './environment.ts'
import { references } from './references.ts'
import { solver } from './solver.ts'
import { states } from './states.ts'
import { tasks } from './tasks.ts'

export const taxi: Classic = { environment, tasks, solver, references, states }
export const measure = measureOf(taxi)
