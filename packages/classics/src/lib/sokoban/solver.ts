import { optimalPolicy } from '../optimal-policy.ts'
import { environment } from './environment.ts'

/** Solves every level in the fewest moves. */
export const solver = optimalPolicy({ environment })
