import { z } from 'zod'
import type { Wire } from '../base/wire.ts'
import { episodeEndSchema, judgementShape, playerStoppedSchema } from '../wire/episode-end.ts'
import { seatsReportSchema } from '../wire/seats-report.ts'
import { rewardSchema } from '../wire/step.ts'
import { completionSchema } from './completion.ts'
import {
  failureSchema,
  recordedPolicySchema,
  recordedStepShape,
  returnsSchema,
  sealedLineSchema,
  startShape,
} from './sealed-line.ts'
import { transcriptSchema } from './transcript-schema.ts'

const recordedSeatStepSchema = z.object({
  ...recordedStepShape,
  seat: z.string(),
  /** The reward of each seat for this step. A move that is sealed has none before its round is played. */
  rewards: z.record(z.string(), rewardSchema),
  /** Who may act now, and what each seat learned by this step. */
  seats: seatsReportSchema.omit({ terms: true, due: true, messages: true }),
})
/** One step of one seat as it is kept, with what it meant to the others. */
export type RecordedSeatStep = Wire<typeof recordedSeatStepSchema>

const recordedSeatSchema = z.object({
  policy: recordedPolicySchema,
  prompt: z.string().optional(),
  /**
   * Its first observation and Φ; `null` if the session could not be opened, or the seat did not play. Where it goes on
   * from an earlier match, also the texts since its own last step, if there were any.
   */
  start: z.object({ ...startShape, messages: z.array(z.string()).optional() }).nullable(),
  /** `null` in a failed match, unless the seat had ended before. */
  end: episodeEndSchema.nullable(),
  ...judgementShape,
  /**
   * That its player stopped before the episode was over for it. Rules that say what an absent seat loses have decided
   * the end. Without such rules the match is cut off there: this seat is truncated for that reason, and the others as
   * `closed`.
   */
  stopped: playerStoppedSchema.optional(),
  /**
   * What the seat earned by the steps of all seats; `null` in a failed match. `discounted` weighs with γ^t what the
   * seat earned from its own step t (from 0) until its next.
   */
  returns: returnsSchema.nullable(),
  /**
   * What the language model of the seat was sent, by the steps and completions of that seat. Left out if none was
   * asked, or it was not recorded.
   */
  transcript: transcriptSchema.optional(),
})
export const matchRecordSchema = sealedLineSchema.extend({
  /** The seats that might act first. */
  turn: z.array(z.string()),
  seats: z.record(z.string(), recordedSeatSchema),
  /** In the order in which they were committed. */
  steps: z.array(recordedSeatStepSchema),
  outcome: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('finished') }),
    z.object({ kind: z.literal('failed'), error: failureSchema, seat: z.string().nullable() }),
  ]),
  /**
   * Answers of a language model that led to no step, in the seat that failed or that cut the match off by stopping.
   * Left out if there were none.
   */
  undecided: z.array(completionSchema).optional(),
})
/**
 * One play of a task by several seats, sealed as one line of JSONL. A failed one is a fault: no seat has a return, and
 * `outcome.seat` names the seat whose policy or action it was.
 */
export type MatchRecord = Wire<typeof matchRecordSchema>
