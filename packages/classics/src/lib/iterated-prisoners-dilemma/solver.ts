import { strategyPolicy } from '../strategy-policy.ts'
import { strategies } from './strategies.ts'

/** Always defects: what both do in every equilibrium, because both know which round is the last. */
export const solver = strategyPolicy('defect', strategies.defect)
