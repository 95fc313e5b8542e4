import { z } from 'zod'
import type { Wire } from '../base/wire.ts'

/** The limits of a session if neither its opener nor its environment sets any. */
export const DEFAULT_LIMITS: Limits = { steps: 1_000, seconds: null, bytes: 67_108_864 }

/** UTF-8 bytes that one answer of a session has at most, or one event for it, if its limit is not lower. */
export const MOST_ANSWER_BYTES = 1_048_576

/** The limits that an opener or a task sets; the others come from the environment. */
export const limitsRequestSchema = z.strictObject({
  steps: z.int().min(1).max(1_000_000).optional(),
  seconds: z.number().positive().optional(),
  turnSeconds: z.number().positive().optional(),
  bytes: z.int().min(1).max(67_108_864).optional(),
})
export type LimitsRequest = Readonly<z.infer<typeof limitsRequestSchema>>
export const limitsSchema = z.object({
  /** Answered steps of one seat, refused ones included. */
  steps: z.int().min(1),
  /** Real seconds since the session was opened; `null` for none. */
  seconds: z.number().positive().nullable(),
  /** Real seconds that a seat may take for its turn, with several seats; left out for no limit. */
  turnSeconds: z.number().positive().optional(),
  /** UTF-8 bytes of the state, and of one answer if they are fewer than 1,048,576 (1 MiB). */
  bytes: z.int().min(1),
})
/**
 * The budgets of one session, enforced by the host at every endpoint. Running out of `steps`, `seconds` or
 * `turnSeconds` truncates the episode, unless the rules of a game say what an absent seat loses; a step whose state or
 * answer would exceed `bytes`, or whose answer exceeds 1 MiB, fails and changes nothing.
 */
export type Limits = Wire<typeof limitsSchema>
