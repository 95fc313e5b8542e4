import { cfrPlusPolicy } from '../solved-policy.ts'
import { environment } from './environment.ts'

/**
 * Plays either seat by the average strategy of CFR+ after 300 iterations, whose NashConv is 0.0047 chips. Solving takes about
 * a second, at the first episode.
 */
export const solver = cfrPlusPolicy(environment, 300)
