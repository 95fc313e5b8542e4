import { strategyPolicy } from '../strategy-policy.ts'
import { strategies } from './strategies.ts'

/** Pushes to where the car rolls, so that it swings higher each time. It arrives, some 20 steps later than the best. */
export const solver = strategyPolicy('swing', strategies.swing)
