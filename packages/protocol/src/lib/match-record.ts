import { z } from 'zod'
import { type Completion, completionSchema } from './completion.ts'
import type { EpisodeEnd } from './end-reasons.ts'
import { episodeEndSchema, type PlayerStopped, playerStoppedSchema } from './episode-end.ts'
import {
  failureSchema,
  type RecordedPolicy,
  type RecordedStep,
  type Returns,
  recordedPolicySchema,
  recordedStepShape,
  returnsSchema,
  rewardSchema,
  type SealedLine,
  sealedLineShape,
} from './episode-record.ts'
import { type Observation, observationSchema } from './observation.ts'
import { type SeatsReport, seatsReportSchema } from './seats-report.ts'
import type { Reward } from './step.ts'
import type { Transcript } from './transcript.ts'
import { transcriptSchema } from './transcript-schema.ts'

/** One step of one seat as it is kept, with what it meant to the others. */
export interface RecordedSeatStep extends Omit<RecordedStep, 'reward'> {
  readonly seat: string
  /** The reward of each seat for this step. A move that is sealed has none before its round is played. */
  readonly rewards: { readonly [seat: string]: Reward }
  /** Who may act now, and what each seat learned by this step. */
  readonly seats: Omit<SeatsReport, 'terms' | 'due' | 'messages'>
}

/** What an episode was for one seat. */
export interface RecordedSeat {
  readonly policy: RecordedPolicy
  /** The instruction of the seat, if it has one of its own. */
  readonly prompt?: string | undefined
  /** Its first observation and Φ; `null` if the session could not be opened, or the seat did not play. */
  readonly start: { readonly observation: Observation; readonly potential: number | null } | null
  /** `null` in a failed match, unless the seat had ended before. */
  readonly end: EpisodeEnd | null
  /** The result of the environment's `success`; left out if the environment defines none. */
  readonly success?: boolean | undefined
  /**
   * That its player stopped before the episode was over for it. Rules that say what an absent seat loses have decided
   * the end. Without such rules the match is cut off there: this seat is truncated for that reason, and the others as
   * `closed`.
   */
  readonly stopped?: PlayerStopped | undefined
  /**
   * What the seat earned by the steps of all seats; `null` in a failed match. `discounted` weighs with γ^t what the
   * seat earned from its own step t (from 0) until its next.
   */
  readonly returns: Returns | null
  /**
   * What the language model of the seat was sent, by the steps and completions of that seat. Left out if none was
   * asked, or it was not recorded.
   */
  readonly transcript?: Transcript | undefined
}

/**
 * One play of a task by several seats, sealed as one line of JSONL. A failed one is a fault: no seat has a return, and
 * `outcome.seat` names the seat whose policy or action it was.
 */
export interface MatchRecord extends SealedLine {
  /** The seats that might act first. */
  readonly turn: readonly string[]
  readonly seats: { readonly [seat: string]: RecordedSeat }
  /** In the order in which they were committed. */
  readonly steps: readonly RecordedSeatStep[]
  readonly outcome:
    | { readonly kind: 'finished' }
    | {
        readonly kind: 'failed'
        readonly error: { readonly code: string; readonly message: string }
        readonly seat: string | null
      }
  /**
   * Answers of a language model that led to no step, in the seat that failed or that cut the match off by stopping.
   * Left out if there were none.
   */
  readonly undecided?: readonly Completion[] | undefined
}

const recordedSeatSchema: z.ZodType<RecordedSeat> = z.object({
  policy: recordedPolicySchema,
  prompt: z.string().optional(),
  start: z.object({ observation: observationSchema, potential: z.number().nullable() }).nullable(),
  end: episodeEndSchema.nullable(),
  success: z.boolean().optional(),
  stopped: playerStoppedSchema.optional(),
  returns: returnsSchema.nullable(),
  transcript: transcriptSchema.optional(),
})

export const matchRecordSchema: z.ZodType<MatchRecord> = z.object({
  ...sealedLineShape,
  turn: z.array(z.string()),
  seats: z.record(z.string(), recordedSeatSchema),
  steps: z.array(
    z.object({
      ...recordedStepShape,
      seat: z.string(),
      rewards: z.record(z.string(), rewardSchema),
      seats: seatsReportSchema,
    }),
  ),
  outcome: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('finished') }),
    z.object({ kind: z.literal('failed'), error: failureSchema, seat: z.string().nullable() }),
  ]),
  undecided: z.array(completionSchema).optional(),
})
