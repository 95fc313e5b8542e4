import { z } from 'zod'

/** Why a world or its server cut an episode off. */
export const truncationSchema = z.enum(['step-limit', 'time-limit', 'turn-limit', 'closed'])

/**
 * What a player did that ended its episode. Its session was closed then, and the episode counts as not succeeded.
 *
 * - `no-action`: it was asked for an action and gave none.
 * - `invalid-action`: what it gave cannot be played.
 * - `budget-spent`: it used more than an episode may use, for example tokens.
 * - `out-of-time`: it took longer than an episode may take.
 */
export const stopReasonSchema = z.enum(['no-action', 'invalid-action', 'budget-spent', 'out-of-time'])

/**
 * How an episode ended.
 *
 * `terminated`: the rules say it is over, and `reason` is the world's own word for why. `truncated`: a budget ran
 * out, or the player stopped, and a learner bootstraps from the last state. A fault of ours is neither: it is an error,
 * counted apart.
 */
export const episodeEndSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('terminated'), reason: z.string().min(1) }),
  z.object({
    kind: z.literal('truncated'),
    reason: z.enum([...truncationSchema.options, ...stopReasonSchema.options]),
  }),
])

export type Truncation = z.infer<typeof truncationSchema>
export type StopReason = z.infer<typeof stopReasonSchema>
export type EpisodeEnd =
  | { readonly kind: 'terminated'; readonly reason: string }
  | { readonly kind: 'truncated'; readonly reason: Truncation | StopReason }

/** That a player stopped before its episode was over, and what it did, in words. */
export interface PlayerStopped {
  readonly reason: StopReason
  readonly message: string
}

export const playerStoppedSchema: z.ZodType<PlayerStopped> = z.object({
  reason: stopReasonSchema,
  message: z.string(),
})

/** Returns why a world or its server cut an episode off; `null` if they did not. */
export function truncationOf(end: EpisodeEnd | null): Truncation | null {
  return end?.kind === 'truncated' ? (truncationSchema.safeParse(end.reason).data ?? null) : null
}

/** Returns why the player ended the episode; `null` if it did not. */
export function stopReasonOf(end: EpisodeEnd | null): StopReason | null {
  return end?.kind === 'truncated' ? (stopReasonSchema.safeParse(end.reason).data ?? null) : null
}
