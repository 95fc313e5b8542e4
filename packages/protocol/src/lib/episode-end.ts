import { z } from 'zod'
import { type EpisodeEnd, STOP_REASONS, type StopReason, TRUNCATIONS } from './end-reasons.ts'

/** See {@link EpisodeEnd}. */
export const episodeEndSchema: z.ZodType<EpisodeEnd> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('terminated'), reason: z.string().min(1) }),
  z.object({ kind: z.literal('truncated'), reason: z.enum([...TRUNCATIONS, ...STOP_REASONS]) }),
])

/** That a player stopped before its episode was over, and what it did, in words. */
export interface PlayerStopped {
  readonly reason: StopReason
  readonly message: string
}

export const playerStoppedSchema: z.ZodType<PlayerStopped> = z.object({
  reason: z.enum(STOP_REASONS),
  message: z.string(),
})
