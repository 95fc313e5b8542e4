import { z } from 'zod'

/** Why a budget stopped an episode. */
export const truncationSchema = z.enum(['step-limit', 'time-limit', 'turn-limit', 'closed'])

/**
 * How an episode ended.
 *
 * `terminated`: the rules say it is over, and `reason` is the world's own word for why. `truncated`: a budget ran
 * out, and a learner bootstraps from the last state. A fault of ours is neither: it is an error, counted apart.
 */
export const episodeEndSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('terminated'), reason: z.string().min(1) }),
  z.object({ kind: z.literal('truncated'), reason: truncationSchema }),
])

export type Truncation = z.infer<typeof truncationSchema>
export type EpisodeEnd =
  | { readonly kind: 'terminated'; readonly reason: string }
  | { readonly kind: 'truncated'; readonly reason: Truncation }
