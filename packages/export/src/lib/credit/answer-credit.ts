import type { EpisodeRecord } from '@episodic/protocol'

/** What one answer of a player was worth, which is one step, or several that it asked for at once. */
export interface AnswerCredit {
  /** Its first step, and the first one after it. An answer that led to no step has none. */
  readonly from: number
  readonly to: number
  readonly branch: readonly number[]
  /** The state in which it was given, and how many answers of the group were given there. */
  readonly node: string
  readonly visits: number
  readonly value: number
  readonly after: number
  readonly state: number
  readonly advantage: number
}

export interface GroupCredit {
  /** Returns the credit of each answer of an episode, in their order; `null` for one without a reward. */
  of(record: EpisodeRecord): readonly AnswerCredit[] | null
  readonly counts: { readonly groups: number; readonly answers: number; readonly shared: number }
}
