import { optimalPolicy } from '../optimal-policy.ts'
import { environment } from './environment.ts'
import { states } from './states.ts'

/** Plays the optimal move for the remaining moves. No policy reaches the goal more often within the step limit. */
export const solver = optimalPolicy({ environment, states })
