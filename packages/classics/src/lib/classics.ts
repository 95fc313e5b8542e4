import type { Classic } from './classic.ts'
import { cliffWalking } from './cliff-walking/classic.ts'
import { frozenLake } from './frozen-lake/classic.ts'
import { taxi } from './taxi/classic.ts'

/** Every world of this package, in the order of their names. */
export const classics: readonly Classic[] = [cliffWalking, frozenLake, taxi]
