import { z } from 'zod'

/** One answer of a language model that a policy asked for on its way to an action. */
export interface Completion {
  /** The model, as the server named it. */
  readonly model: string
  /** As the server counted them; 0 where it did not. */
  readonly promptTokens: number
  readonly completionTokens: number
  /** In the currency of the prices that the policy was given; `null` where it was given none. */
  readonly cost: number | null
  /** What it said besides calling a tool; `null` for nothing. */
  readonly text: string | null
  /** Ids of the tokens that the model read and wrote, and ln p of each that it wrote: as the server gave them, never tokenised anew. Left out where it gave none. */
  readonly promptTokenIds?: readonly number[] | undefined
  readonly tokenIds?: readonly number[] | undefined
  readonly logProbabilities?: readonly number[] | undefined
}

export const completionSchema: z.ZodType<Completion> = z.object({
  model: z.string(),
  promptTokens: z.int().min(0),
  completionTokens: z.int().min(0),
  cost: z.number().min(0).nullable(),
  text: z.string().nullable(),
  promptTokenIds: z.array(z.int()).optional(),
  tokenIds: z.array(z.int()).optional(),
  logProbabilities: z.array(z.number()).optional(),
})
