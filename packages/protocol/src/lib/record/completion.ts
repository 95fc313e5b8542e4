import { z } from 'zod'
import type { Wire } from '../base/wire.ts'

/** A tool call of a language model, as it was written. */
const recordedCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** JSON text, or what the model wrote in its place. */
  arguments: z.string(),
  /** Whether it was played as the action of a step. */
  played: z.boolean(),
})
export type RecordedCall = Wire<typeof recordedCallSchema>

const milliseconds = z.number().min(0)

/** How long an answer took, in milliseconds. */
const completionTimeSchema = z.object({
  /** From sending the request that was answered to the end of the answer. */
  milliseconds,
  /** Waiting for the rate limit, and pauses between tries. */
  waited: milliseconds,
})

/** A request to a language model that was not answered. */
const failedTrySchema = z.object({
  /** The HTTP status; `null` if there was none, or the answer broke off. */
  status: z.int().nullable(),
  /**
   * `http`, `timeout`, `incomplete` (the answer broke off), `error` (status 200 with an error in it), or the code of
   * the network error, for example `ECONNRESET`.
   */
  code: z.string(),
  milliseconds,
})

const ranges = z.array(z.tuple([z.int().min(0), z.int().min(0)]))
/** Half-open index ranges into a pool, in the order in which the request sent them. */
export type PoolRanges = Wire<typeof ranges>

/** The place of a request in the pools of a line's transcript. */
const pooledRequestSchema = z.object({ messages: ranges, tools: ranges })

export const completionSchema = z.object({
  /** The model, as the server named it. */
  model: z.string(),
  /** As counted by the server; 0 if it did not count them. */
  promptTokens: z.int().min(0),
  /** With those of its reasoning, whether the server counts them in it or beside it. */
  completionTokens: z.int().min(0),
  /** In the currency of the policy's price settings; `null` without prices. */
  cost: z.number().min(0).nullable(),
  /** What it said besides calling a tool; `null` for nothing. */
  text: z.string().nullable(),
  /**
   * Ids of the tokens that the model read and wrote, and ln p of each written one, as returned by the server: text is
   * never tokenised again. Left out if the server returned none.
   */
  promptTokenIds: z.array(z.int()).optional(),
  tokenIds: z.array(z.int()).optional(),
  logProbabilities: z.array(z.number()).optional(),
  /** The version of the weights that wrote it, such as `step-12`; the oldest one of several. */
  policyVersion: z.string().optional(),
  /** If there were several: each with how many of its tokens it wrote, in their order. */
  policyVersions: z.array(z.tuple([z.string(), z.int().min(0)])).optional(),
  /** The model, as it was asked for. This and all that follows is left out where it is not known. */
  asked: z.string().optional(),
  temperature: z.number().min(0).optional(),
  responseId: z.string().optional(),
  /** What the server returned as the model's reasoning, apart from `text`. */
  reasoning: z.string().optional(),
  calls: z.array(recordedCallSchema).optional(),
  /** Why the answer ended, as the server said, for example `stop`, `length` or `tool_calls`. */
  finish: z.string().optional(),
  /** Of `promptTokens`: those that the server read from its cache. */
  cachedTokens: z.int().min(0).optional(),
  /** Of `completionTokens`: those of the reasoning. */
  reasoningTokens: z.int().min(0).optional(),
  time: completionTimeSchema.optional(),
  /** The requests that failed before the one that was answered, oldest first. Left out if there were none. */
  tries: z.array(failedTrySchema).optional(),
  /**
   * What its server had refused before, so that this request was sent without it, for example `seed`. Left out if it
   * had refused nothing.
   */
  leftOut: z.array(z.string()).optional(),
  /** Its request, in the pools of the line's transcript. */
  prompt: pooledRequestSchema.optional(),
  /** Characters that were left out of its texts, which say so in their place. Left out if none were. */
  cut: z.int().min(0).optional(),
})
/** One answer of a language model that a policy requested to choose an action. */
export type Completion = Wire<typeof completionSchema>
