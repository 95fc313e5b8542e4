import { z } from 'zod'
import { actionSchema } from '../../wire/step.ts'

/** A call of a tool that failed between a player and its world, see `--tool-faults`. Its world knows nothing of it. */
export const toolFaultSchema = z.object({
  /** The call did not reach the world, its answer came late, or an earlier one was read in its place. */
  kind: z.enum(['error', 'slow', 'stale']),
  /** Left out in an episode of one seat. */
  seat: z.string().optional(),
  /** Which answer of its seat in this line was late or not read; of `error`, how many there were before the call. */
  step: z.int().min(0),
  /** Of `error`: what was called, what was read, and the answers of a language model since the last step. */
  call: actionSchema.optional(),
  text: z.string().optional(),
  answers: z.int().min(0).optional(),
  /** Of `stale`: which answer of its seat was read. */
  read: z.int().min(0).optional(),
})
