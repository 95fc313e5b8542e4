import type { CheckContext } from '../check-context.ts'
import { type CheckName, type CheckOutcome, skipped } from '../check-report.ts'
import { sweepSeatsForCanaries } from './seat-canaries.ts'
import { checkSeatInterference } from './seat-interference.ts'
import { checkSeatRewards } from './seat-rewards.ts'
import { checkSeatRules } from './seat-rules.ts'

/** The checks that are others for an environment of several seats. */
export const GAME_CHECKS: Partial<Record<CheckName, (context: CheckContext) => CheckOutcome | Promise<CheckOutcome>>> =
  {
    'non-interference': checkSeatInterference,
    canaries: sweepSeatsForCanaries,
    seats: checkSeatRules,
    rewards: checkSeatRewards,
    learnability: () =>
      skipped(
        'learnability',
        'what a learner of one seat can earn depends on the others; solve a small game with gameTree',
      ),
    exploits: () =>
      skipped(
        'exploits',
        'what a simple player earns depends on the others; gameTree has the best response to any profile',
      ),
  }
