import type { Completion } from '@episodic/protocol'
import { wellFormed } from '@episodic/protocol/internal'
import { z } from 'zod'
import type { Prices } from './model-options.ts'
import { findAnswerError } from './read-answer.ts'
import type { ToolCall } from './transcript.ts'
import { weightFields, weightVersionOf } from './weight-version.ts'

/** The answer of a model. */
export interface Answer {
  readonly completion: Completion
  /** Its tool calls. Only the first can be played. */
  readonly calls: readonly ToolCall[]
  /** The finish reason of the server. */
  readonly finish: string
}

const ids = z.array(z.int()).nullish().catch(null)
/** A token count. Implausibly large ones are ignored, so that sums stay exact. */
const count = z.int().min(0).max(1_000_000_000).catch(0)
/** A count that is part of another one; `null` if the server did not count it. */
const share = count.nullish().catch(null)

const callSchema = z.object({
  // Some servers send no id. The result follows its call directly, so any id works.
  id: z.string().min(1).catch('call'),
  function: z.object({
    name: z.string(),
    // Some servers send an object, or nothing if there are no arguments.
    arguments: z.unknown().transform((args) => (typeof args === 'string' ? args : (JSON.stringify(args ?? {}) ?? ''))),
  }),
})

const messageSchema = z.object({
  content: z.string().nullish().catch(null),
  reasoning: z.string().nullish().catch(null),
  reasoning_content: z.string().nullish().catch(null),
  tool_calls: z.array(callSchema.nullable().catch(null)).nullish().catch(null),
})

/**
 * The parts of an answer that are used. Fields beyond OpenAI's are from vLLM, which sends the prompt's ids beside the
 * choices, and from SGLang, which sends them with each choice, and those of the answer in `meta_info` as lists of
 * log-probability, id and text. Servers name the reasoning in either of two ways. Fields of another shape are ignored.
 */
const answerSchema = z.object({
  id: z.string().nullish().catch(null),
  model: z.string().catch('unknown'),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: share }).nullish().catch(null),
      completion_tokens_details: z.object({ reasoning_tokens: share }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
  prompt_token_ids: ids,
  ...weightFields,
  choices: z
    .array(
      z.object({
        message: messageSchema.nullish().catch(null),
        finish_reason: z.string().nullish().catch(null),
        prompt_token_ids: ids,
        token_ids: ids,
        meta_info: z
          .object({ output_token_logprobs: z.array(z.tuple([z.number(), z.int()], z.unknown())).nullish() })
          .nullish()
          .catch(null),
        logprobs: z
          .object({ content: z.array(z.object({ logprob: z.number() })).nullish() })
          .nullish()
          .catch(null),
      }),
    )
    .catch([]),
})

/**
 * Parses the answer of an OpenAI-compatible server; `null` if it is not one, or an error in place of one. Half of a
 * surrogate pair in its texts becomes U+FFFD: a model that is cut in the middle of an emoji writes one.
 */
export function parseAnswer(answer: unknown, prices: Prices | null): Answer | null {
  const parsed = answerSchema.safeParse(answer)
  if (!parsed.success || findAnswerError(answer)) return null
  const { id, model, usage, prompt_token_ids, choices, ...rest } = wellFormed(parsed.data)
  const choice = choices[0]
  const promptTokens = usage?.prompt_tokens ?? 0
  const completionTokens = usage?.completion_tokens ?? 0
  const promptTokenIds = prompt_token_ids ?? choice?.prompt_token_ids
  const scored = choice?.meta_info?.output_token_logprobs
  const tokenIds = choice?.token_ids ?? scored?.map(([, id]) => id)
  const logProbabilities =
    choice?.logprobs?.content?.map(({ logprob }) => logprob) ?? scored?.map(([logprob]) => logprob)
  const policyVersion = weightVersionOf(rest)
  const calls = choice?.message?.tool_calls?.filter((call) => call !== null) ?? []
  const reasoning = choice?.message?.reasoning || choice?.message?.reasoning_content
  const cachedTokens = usage?.prompt_tokens_details?.cached_tokens
  const reasoningTokens = usage?.completion_tokens_details?.reasoning_tokens
  return {
    completion: {
      model,
      promptTokens,
      completionTokens,
      // Without counts nothing is known of what it costs, and 0 would be a lie.
      cost: prices && usage ? (promptTokens * prices.prompt + completionTokens * prices.completion) / 1_000_000 : null,
      text: choice?.message?.content || null,
      ...(promptTokenIds && { promptTokenIds }),
      ...(tokenIds && { tokenIds }),
      ...(logProbabilities && { logProbabilities }),
      ...(policyVersion && { policyVersion }),
      ...(id && { responseId: id }),
      ...(reasoning && { reasoning }),
      ...(choice?.finish_reason && { finish: choice.finish_reason }),
      ...(typeof cachedTokens === 'number' && { cachedTokens }),
      ...(typeof reasoningTokens === 'number' && { reasoningTokens }),
    },
    calls: calls.map((call) => ({ id: call.id, ...call.function })),
    finish: choice?.finish_reason ?? 'nothing',
  }
}
