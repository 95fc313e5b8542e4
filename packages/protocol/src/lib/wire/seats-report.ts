import { z } from 'zod'
import type { Wire } from '../base/wire.ts'
import { episodeEndSchema } from './episode-end.ts'
import { observationSchema } from './observation.ts'

export const termsSchema = z.record(z.string(), z.number())
/** Raw reward of each named term. */
export type Terms = Wire<typeof termsSchema>

export const seatsReportSchema = z.object({
  /** The seats that may act now; empty once the episode is over. */
  turn: z.array(z.string()),
  /** Raw reward of each other seat for this step. Left out for a move that is sealed until others have moved too. */
  terms: z.record(z.string(), termsSchema).optional(),
  /** How the episode ended for the seats that it ended for by this step. Left out if there were none. */
  ends: z.record(z.string(), episodeEndSchema).optional(),
  /** Whether each of those succeeded. Left out if the environment defines no success. */
  successes: z.record(z.string(), z.boolean()).optional(),
  /** The further verdicts on each of those. Left out if the environment defines none. */
  verdicts: z.record(z.string(), z.record(z.string(), z.boolean())).optional(),
  /** What each other seat sees now, if it may act now or its episode ended by this step. */
  views: z.record(z.string(), observationSchema),
  /** Raw reward that the seat earned by the steps of others since its own last step. Left out if there was none. */
  due: termsSchema.optional(),
  /** Texts for the seat since its own last step, oldest first. Left out if there were none. */
  messages: z.array(z.string()).optional(),
  /** Texts for the seats by this step. Left out if there were none. */
  sent: z.record(z.string(), z.array(z.string())).optional(),
  /** `true`: the move is sealed, and is played when every seat in turn has moved. */
  sealed: z.literal(true).optional(),
})
/**
 * The part of a {@link StepReport} about seats, in an environment that has several. What others do after a step is not
 * part of it, so that one stored answer settles every retry: `environment/turn` returns what came later.
 */
export type SeatsReport = Wire<typeof seatsReportSchema>
