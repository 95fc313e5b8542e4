import type { Classic } from './classic.ts'
import { cliffWalking } from './environments/cliff-walking.ts'
import { connectFour } from './environments/connect-four.ts'
import { frozenLake } from './environments/frozen-lake.ts'
import { kuhnPoker } from './environments/kuhn-poker.ts'
import { numberGuessing } from './environments/number-guessing.ts'
import { taxi } from './environments/taxi.ts'

/** Every world of one seat of this package, in the order of their names. */
export const classics: readonly Classic[] = [cliffWalking, frozenLake, numberGuessing, taxi]

/** Every game of several seats of this package, in the order of their names. */
export const games: readonly Classic[] = [connectFour, kuhnPoker]
