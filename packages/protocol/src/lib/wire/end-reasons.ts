// Without a schema library: pages in a browser read these too.

/** Why a world or its server cut an episode off. */
export const TRUNCATIONS = ['step-limit', 'time-limit', 'turn-limit', 'closed'] as const

/**
 * What a player did that ended its episode. Its session was closed then, and the episode counts as not succeeded.
 *
 * - `no-action`: it was asked for an action and gave none.
 * - `invalid-action`: what it gave cannot be played.
 * - `budget-spent`: it used more than an episode may use, for example tokens, or than the context of its model holds.
 * - `out-of-time`: it took longer than an episode may take.
 */
export const STOP_REASONS = ['no-action', 'invalid-action', 'budget-spent', 'out-of-time'] as const

export type Truncation = (typeof TRUNCATIONS)[number]
export type StopReason = (typeof STOP_REASONS)[number]

/**
 * How an episode ended.
 *
 * `terminated`: the rules say it is over, and `reason` is the world's own word for why. `truncated`: a budget ran
 * out, or the player stopped, and a learner bootstraps from the last state. A fault of ours is neither: it is an error,
 * counted apart.
 */
export type EpisodeEnd =
  | { readonly kind: 'terminated'; readonly reason: string }
  | { readonly kind: 'truncated'; readonly reason: Truncation | StopReason }

/** Returns why a world or its server cut an episode off; `null` if they did not. */
export function truncationOf(end: EpisodeEnd | null): Truncation | null {
  return end?.kind === 'truncated' ? (TRUNCATIONS.find((reason) => reason === end.reason) ?? null) : null
}

/** Returns why the player ended the episode; `null` if it did not. */
export function stopReasonOf(end: EpisodeEnd | null): StopReason | null {
  return end?.kind === 'truncated' ? (STOP_REASONS.find((reason) => reason === end.reason) ?? null) : null
}

/** How an environment judged an episode that is over; each part is left out if the environment does not define it. */
export interface Judgement {
  readonly success?: boolean | undefined
  readonly verdicts?: { readonly [name: string]: boolean } | undefined
}

/** Returns the judgement in a report or a line, without what it leaves out. */
export function judgementOf({ success, verdicts }: Judgement): Judgement {
  return { ...(success !== undefined && { success }), ...(verdicts && { verdicts }) }
}
