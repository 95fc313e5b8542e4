import { cfrPlusPolicy } from '../solved-policy.ts'
import { environment } from './environment.ts'

/** Plays either seat by the average strategy of CFR+ after 1,000 iterations. */
export const solver = cfrPlusPolicy(environment, 1_000)
