import { solvedPolicy } from '../solved-policy.ts'
import { environment } from './environment.ts'

/** Plays every best move equally often, by backward induction over all positions. It never loses. */
export const solver = solvedPolicy(environment, 'backward-induction', (tree) => tree.backwardInduction())
