import type { ClassicGame } from './classic-game.ts'
import { kuhnPoker } from './kuhn-poker/classic.ts'
import { leducPoker } from './leduc-poker/classic.ts'

/** Every game of several seats of this package, in the order of their names. */
export const games: readonly ClassicGame[] = [kuhnPoker, leducPoker]
