import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { environment } from './environment.ts'
import { references } from './references.ts'
import { solver } from './solver.ts'
import { keyOf, states } from './states.ts'
import { tasks } from './tasks.ts'

export const cliffWalking: Classic = { environment, tasks, solver, references, keyOf, states }
export const measure = measureOf(cliffWalking)
