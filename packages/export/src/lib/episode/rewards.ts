import type { EpisodeRecord, RecordedStep } from '@episodic/protocol'

export interface ExportReward {
  readonly name: string
  readonly description: string
  /** Returns `null` for an episode without a return: what is not known is never a reward of 0. */
  of(record: EpisodeRecord): number | null
  /** Returns what a step earned. Left out if only the episode has a reward. */
  ofStep?(step: RecordedStep): number
}

export const EXPORT_REWARDS = {
  unshaped: {
    name: 'unshaped',
    description: 'sum of the weighted terms, without shaping',
    of: (record) => returnsOf(record)?.unshaped ?? null,
    ofStep: ({ reward }) => reward.total - reward.shaping,
  },
  total: {
    name: 'total',
    description: 'with shaping: what a learner of the run optimised',
    of: (record) => returnsOf(record)?.total ?? null,
    ofStep: ({ reward }) => reward.total,
  },
} as const satisfies Record<string, ExportReward>

export type ExportRewardName = keyof typeof EXPORT_REWARDS

/**
 * Returns what an episode earned; `null` for one that failed, and for one whose server gave no reward for any step, as
 * servers of other systems may: its 0 is an empty sum, and a learner would take it for a score.
 */
export function returnsOf({ returns, steps }: Pick<EpisodeRecord, 'returns' | 'steps'>): EpisodeRecord['returns'] {
  const isRewarded = steps.length === 0 || steps.some(({ reward }) => Object.keys(reward.terms).length > 0)
  return isRewarded ? returns : null
}
