import type { advantages } from '@episodic/env/advantages'
import type { EpisodeRecord } from '@episodic/protocol'

type StepCredit = ReturnType<typeof advantages>['rollouts'][number]['steps'][number]

/**
 * What one answer of a player was worth, which is one step, or several that it asked for at once: its node is the state
 * in which it was given, and visits are the answers of the group that were given there.
 */
export interface AnswerCredit extends StepCredit {
  /** Its first step, and the first one after it. An answer that led to no step has none. */
  readonly from: number
  readonly to: number
  readonly branch: readonly number[]
}

export interface GroupCredit {
  /** Returns the credit of each answer of an episode, in their order; `null` for one without a reward. */
  of(record: EpisodeRecord): readonly AnswerCredit[] | null
  readonly counts: { readonly groups: number; readonly answers: number; readonly shared: number }
}
