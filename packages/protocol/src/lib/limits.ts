import { z } from 'zod'

/**
 * The budgets of one session, enforced by the host at every endpoint. Running out of `steps`, `seconds` or
 * `turnSeconds` truncates the episode, unless the rules of a game say what an absent seat loses; a step whose state or
 * answer would exceed `bytes` fails and changes nothing.
 */
export interface Limits {
  /** Answered steps of one seat, refused ones included. */
  readonly steps: number
  /** Real seconds since the session was opened; `null` for none. */
  readonly seconds: number | null
  /**
   * Real seconds that a seat may take for its turn, if there are several seats; left out for no limit.
   */
  readonly turnSeconds?: number | undefined
  /** UTF-8 bytes of the stored state, and of one answer. */
  readonly bytes: number
}

/** The limits of a session if neither its opener nor its environment sets any. */
export const DEFAULT_LIMITS: Limits = { steps: 1_000, seconds: null, bytes: 1_048_576 }

/** The limits that an opener or a task sets; the others come from the environment. */
export const limitsRequestSchema = z.strictObject({
  steps: z.int().min(1).max(1_000_000).optional(),
  seconds: z.number().positive().optional(),
  turnSeconds: z.number().positive().optional(),
  bytes: z.int().min(1).max(67_108_864).optional(),
})
export type LimitsRequest = Readonly<z.infer<typeof limitsRequestSchema>>
export const limitsSchema: z.ZodType<Limits> = z.object({
  steps: z.int().min(1),
  seconds: z.number().positive().nullable(),
  turnSeconds: z.number().positive().optional(),
  bytes: z.int().min(1),
})
