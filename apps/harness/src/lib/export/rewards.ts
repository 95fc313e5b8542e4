import type { EpisodeRecord } from '@episodic/protocol'

/** What a file for trainers calls the reward of an episode. */
export interface ExportReward {
  readonly name: string
  readonly description: string
  /** Returns `null` for an episode without a return: a failure is never a reward of 0. */
  of(record: EpisodeRecord): number | null
}

/** The rewards of `episodic export --reward`, by their names. */
export const EXPORT_REWARDS = {
  unshaped: {
    name: 'unshaped',
    description: 'sum of the weighted terms, without shaping',
    of: ({ returns }) => returns?.unshaped ?? null,
  },
  total: {
    name: 'total',
    description: 'with shaping: what a learner of the run optimised',
    of: ({ returns }) => returns?.total ?? null,
  },
} as const satisfies Record<string, ExportReward>

export type ExportRewardName = keyof typeof EXPORT_REWARDS
