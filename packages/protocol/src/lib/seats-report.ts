import { z } from 'zod'
import type { EpisodeEnd } from './end-reasons.ts'
import { episodeEndSchema } from './episode-end.ts'
import { type Observation, observationSchema } from './observation.ts'

/** Raw reward of each named term. */
export interface Terms {
  readonly [name: string]: number
}
export const termsSchema: z.ZodType<Terms> = z.record(z.string(), z.number())

/**
 * The part of a {@link StepReport} about seats, in an environment that has several. What others do after a step is not
 * part of it, so that one stored answer settles every retry: `environment/turn` returns what came later.
 */
export interface SeatsReport {
  /** The seats that may act now; empty once the episode is over. */
  readonly turn: readonly string[]
  /** Raw reward of each other seat for this step. Left out for a move that is sealed until others have moved too. */
  readonly terms?: { readonly [seat: string]: Terms } | undefined
  /** How the episode ended for the seats that it ended for by this step. Left out if there were none. */
  readonly ends?: { readonly [seat: string]: EpisodeEnd } | undefined
  /** Whether each of those succeeded. Left out if the environment defines no success. */
  readonly successes?: { readonly [seat: string]: boolean } | undefined
  /** What each other seat sees now, if it may act now or its episode ended by this step. */
  readonly views: { readonly [seat: string]: Observation }
  /** Raw reward that the seat earned by the steps of others since its own last step. Left out if there was none. */
  readonly due?: Terms | undefined
  /** Texts for the seat since its own last step, oldest first. Left out if there were none. */
  readonly messages?: readonly string[] | undefined
  /** Texts for the seats by this step. Left out if there were none. */
  readonly sent?: { readonly [seat: string]: readonly string[] } | undefined
  /** `true`: the move is sealed, and is played when every seat in turn has moved. */
  readonly sealed?: true | undefined
}
export const seatsReportSchema: z.ZodType<SeatsReport> = z.object({
  turn: z.array(z.string()),
  terms: z.record(z.string(), termsSchema).optional(),
  ends: z.record(z.string(), episodeEndSchema).optional(),
  successes: z.record(z.string(), z.boolean()).optional(),
  views: z.record(z.string(), observationSchema),
  due: termsSchema.optional(),
  messages: z.array(z.string()).optional(),
  sent: z.record(z.string(), z.array(z.string())).optional(),
  sealed: z.literal(true).optional(),
})
