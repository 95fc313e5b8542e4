import { strategyPolicy } from '../strategy-policy.ts'
import { strategies } from './strategies.ts'

/** Plays the best strategy, that of figure 5.2 of Sutton and Barto. */
export const solver = strategyPolicy('figure-5.2', strategies['figure-5.2'])
