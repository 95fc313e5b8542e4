import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { environment } from './environment.ts'
import { references } from './references.ts'
import { solver } from './solver.ts'
import { tasks } from './tasks.ts'

export const sokoban: Classic = { environment, tasks, solver, references }
export const measure = measureOf(sokoban)
