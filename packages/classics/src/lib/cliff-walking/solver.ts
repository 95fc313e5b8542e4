import { optimalPolicy } from '../optimal-policy.ts'
import { environment } from './environment.ts'
import { keyOf, states } from './states.ts'

/** Plays the optimal action for the steps that are left. */
export const solver = optimalPolicy({ environment, states, keyOf })
