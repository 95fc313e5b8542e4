import { z } from 'zod'
import type { Wire } from '../base/wire.ts'
import { type EpisodeEnd, STOP_REASONS, TRUNCATIONS } from './end-reasons.ts'

/** See {@link EpisodeEnd}. */
export const episodeEndSchema: z.ZodType<EpisodeEnd> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('terminated'), reason: z.string().min(1) }),
  z.object({ kind: z.literal('truncated'), reason: z.enum([...TRUNCATIONS, ...STOP_REASONS]) }),
])

export const playerStoppedSchema = z.object({ reason: z.enum(STOP_REASONS), message: z.string() })
/** That a player stopped before its episode was over, and what it did, in words. */
export type PlayerStopped = Wire<typeof playerStoppedSchema>

/** How an environment judged an episode that is over; each part is left out if the environment does not define it. */
export const judgementShape = {
  success: z.boolean().optional(),
  /** Its further verdicts, by their names. Left out too where a player stopped in a match, which nobody judged. */
  verdicts: z.record(z.string(), z.boolean()).optional(),
} as const
