import { z } from 'zod'

/** One answer of a language model that a policy requested to choose an action. */
export interface Completion {
  /** The model, as the server named it. */
  readonly model: string
  /** As counted by the server; 0 if it did not count them. */
  readonly promptTokens: number
  readonly completionTokens: number
  /** In the currency of the policy's price settings; `null` without prices. */
  readonly cost: number | null
  /** What it said besides calling a tool; `null` for nothing. */
  readonly text: string | null
  /**
   * Ids of the tokens that the model read and wrote, and ln p of each written one, as returned by the server: text is
   * never tokenised again. Left out if the server returned none.
   */
  readonly promptTokenIds?: readonly number[] | undefined
  readonly tokenIds?: readonly number[] | undefined
  readonly logProbabilities?: readonly number[] | undefined
  /**
   * The version of the weights that wrote it, as the server named it, for example `12` or `step-12`; the oldest one if
   * the weights changed meanwhile. Left out if the server named none.
   */
  readonly policyVersion?: string | undefined
  /** The model, as it was asked for. This and all that follows is left out where it is not known. */
  readonly asked?: string | undefined
  /** The server's id of the answer. */
  readonly responseId?: string | undefined
  /** What the server returned as the model's reasoning, apart from `text`. */
  readonly reasoning?: string | undefined
  /** All tool calls of the answer, in their order. */
  readonly calls?: readonly RecordedCall[] | undefined
  /** Why the answer ended, as the server said, for example `stop`, `length` or `tool_calls`. */
  readonly finish?: string | undefined
  /** Of `promptTokens`: those that the server read from its cache. */
  readonly cachedTokens?: number | undefined
  /** Of `completionTokens`: those of the reasoning. */
  readonly reasoningTokens?: number | undefined
  readonly time?: CompletionTime | undefined
  /** The requests that failed before the one that was answered, oldest first. Left out if there were none. */
  readonly tries?: readonly FailedTry[] | undefined
  /** Its request, in the pools of the line's transcript. */
  readonly prompt?: PooledRequest | undefined
  /** Characters that were left out of its texts, which say so in their place. Left out if none were. */
  readonly cut?: number | undefined
}

/** A tool call of a language model, as it was written. */
export interface RecordedCall {
  readonly id: string
  readonly name: string
  /** JSON text, or what the model wrote in its place. */
  readonly arguments: string
  /** Whether it was played as the action of a step. */
  readonly played: boolean
}

/** How long an answer took, in milliseconds. */
export interface CompletionTime {
  /** From sending the request that was answered to the end of the answer. */
  readonly milliseconds: number
  /** Waiting for the rate limit, and pauses between tries. */
  readonly waited: number
}

/** A request to a language model that was not answered. */
export interface FailedTry {
  /** The HTTP status; `null` if there was none, or the answer broke off. */
  readonly status: number | null
  /**
   * `http`, `timeout`, `incomplete` (the answer broke off), `error` (status 200 with an error in it), or the code of
   * the network error, for example `ECONNRESET`.
   */
  readonly code: string
  readonly milliseconds: number
}

/** The entries of a pool that were in a request, in their order: from each first index to before each second one. */
export type PoolRanges = readonly (readonly [from: number, to: number])[]

/** The place of a request in the pools of a line's transcript. */
export interface PooledRequest {
  readonly messages: PoolRanges
  readonly tools: PoolRanges
}

const ranges = z.array(z.tuple([z.int().min(0), z.int().min(0)]))
const pooledRequestSchema: z.ZodType<PooledRequest> = z.object({ messages: ranges, tools: ranges })

const milliseconds = z.number().min(0)

export const completionSchema: z.ZodType<Completion> = z.object({
  model: z.string(),
  promptTokens: z.int().min(0),
  completionTokens: z.int().min(0),
  cost: z.number().min(0).nullable(),
  text: z.string().nullable(),
  promptTokenIds: z.array(z.int()).optional(),
  tokenIds: z.array(z.int()).optional(),
  logProbabilities: z.array(z.number()).optional(),
  policyVersion: z.string().optional(),
  asked: z.string().optional(),
  responseId: z.string().optional(),
  reasoning: z.string().optional(),
  calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string(), played: z.boolean() })).optional(),
  finish: z.string().optional(),
  cachedTokens: z.int().min(0).optional(),
  reasoningTokens: z.int().min(0).optional(),
  time: z.object({ milliseconds, waited: milliseconds }).optional(),
  tries: z.array(z.object({ status: z.int().nullable(), code: z.string(), milliseconds })).optional(),
  prompt: pooledRequestSchema.optional(),
  cut: z.int().min(0).optional(),
})
