import { z } from 'zod'
import type { Wire } from '../base/wire.ts'

/** How an environment judged an episode that is over; each part is left out if the environment does not define it. */
export const judgementShape = {
  success: z.boolean().optional(),
  /** Its further verdicts, by their names. Left out too where a player stopped in a match, which nobody judged. */
  verdicts: z.record(z.string(), z.boolean()).optional(),
} as const

export type Judgement = Wire<z.ZodObject<typeof judgementShape>>

/** Returns the judgement in a report or a line, without what it leaves out. */
export function judgementOf({ success, verdicts }: Judgement): Judgement {
  return { ...(success !== undefined && { success }), ...(verdicts && { verdicts }) }
}
