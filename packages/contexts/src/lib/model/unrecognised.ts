import { z } from 'zod'

/** Something that a user named for a slot, which is no value that the slot can have. */
export interface Unrecognised {
  readonly slot: string
  /** As the user said it. */
  readonly text: string
}

/** Accepts what an interpreter could not read of one utterance, bounded in number and size. */
export const unrecognisedSchema: z.ZodType<readonly Unrecognised[]> = z
  .array(z.object({ slot: z.string().min(1).max(128), text: z.string().min(1).max(200) }))
  .max(16)
