import { strategyPolicy } from '../strategy-policy.ts'
import { strategies } from './strategies.ts'

/** Finds the word in the fewest guesses on average. */
export const solver = strategyPolicy('fewest-guesses', strategies['fewest-guesses'])
