import type { Completion, Json, JsonObject } from '@episodic/protocol'
import { isObject, wellFormed } from '@episodic/protocol/internal'
import { z } from 'zod'
import { withTokens } from './handed-tokens.ts'
import type { Prices } from './model-options.ts'
import { findAnswerError } from './read-answer.ts'
import { inventId, type ToolCall } from './transcript.ts'
import { weightFields, weightVersionOf } from './weight-version.ts'

/** The answer of a model. */
export interface Answer {
  readonly completion: Completion
  /** Its tool calls, each with an id of its own. */
  readonly calls: readonly ToolCall[]
  /**
   * It as a message that is sent back: as it came, with its tokens and fields that only its server knows, but for those
   * that are empty. A server may require what it has sent, such as its reasoning or a signature.
   */
  readonly message: JsonObject
  /** The finish reason of the server. */
  readonly finish: string
}

/** A list with an item for each token. A schema for each of thousands would take as long as the rest. */
const eachToken = <Item>(isRight: (items: readonly unknown[]) => boolean) =>
  z
    .custom<Item[]>((value) => Array.isArray(value) && isRight(value))
    .nullish()
    .catch(null)
const ids = eachToken<number>((items) => {
  // `every` takes ten times as long.
  for (const item of items) if (!Number.isInteger(item)) return false
  return true
})
/** A token count. Implausibly large ones are ignored, so that sums stay exact. */
const count = z.int().min(0).max(1_000_000_000).catch(0)
/** A count that is part of another one; `null` if the server did not count it. */
const share = count.nullish().catch(null)

const callSchema = z.object({
  // Some servers send no id, or an empty one.
  id: z.string().min(1).nullish().catch(null),
  function: z.object({
    name: z.string(),
    // Some servers send an object, or nothing if there are no arguments.
    arguments: z.unknown().transform((args) => (typeof args === 'string' ? args : (JSON.stringify(args ?? {}) ?? ''))),
  }),
})

/** A text, or a list of parts of which some are texts and some are thoughts, as Mistral sends them. */
const contentSchema = z
  .union([z.string(), z.array(z.unknown())])
  .nullish()
  .catch(null)

const messageSchema = z.looseObject({
  content: contentSchema,
  reasoning: contentSchema,
  reasoning_content: contentSchema,
  tool_calls: z.array(z.unknown()).nullish().catch(null),
  prompt_token_ids: ids,
  generation_token_ids: ids,
  generation_log_probs: eachToken<number>((items) => items.every(Number.isFinite)),
})

/**
 * The parts of an answer that are used. Fields beyond OpenAI's are from vLLM, which sends the prompt's ids beside the
 * choices, from SGLang, which sends them with each choice, and those of the answer as `response_token_ids`, or in
 * `meta_info` as lists of log-probability, id and text, and from NeMo Gym, which has them in the message. Servers name
 * the reasoning in either of two ways. Fields of another shape are ignored.
 */
const answerSchema = z.object({
  id: z.string().nullish().catch(null),
  model: z.string().catch('unknown'),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: share, cache_write_tokens: share }).nullish().catch(null),
      completion_tokens_details: z.object({ reasoning_tokens: share }).nullish().catch(null),
      /** As OpenRouter says it, in the currency of the account. */
      cost: z.number().min(0).nullish().catch(null),
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
        response_token_ids: ids,
        meta_info: z
          .object({
            output_token_logprobs: eachToken<[score: number, id: number]>((items) =>
              items.every((item) => Array.isArray(item) && Number.isFinite(item[0]) && Number.isInteger(item[1])),
            ),
          })
          .nullish()
          .catch(null),
        logprobs: z
          .object({
            content: eachToken<{ logprob: number }>((items) =>
              items.every((item) => isObject(item) && Number.isFinite(item.logprob)),
            ),
          })
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
  const own = choice?.message
  const promptTokenIds = prompt_token_ids ?? choice?.prompt_token_ids ?? own?.prompt_token_ids
  const scored = choice?.meta_info?.output_token_logprobs
  const tokenIds =
    choice?.token_ids ?? choice?.response_token_ids ?? scored?.map(([, id]) => id) ?? own?.generation_token_ids
  const logProbabilities =
    choice?.logprobs?.content?.map(({ logprob }) => logprob) ??
    scored?.map(([logprob]) => logprob) ??
    own?.generation_log_probs
  const policyVersion = weightVersionOf(rest)
  const said = readMessage(choice?.message ?? {})
  const cachedTokens = usage?.prompt_tokens_details?.cached_tokens
  const reasoningTokens = usage?.completion_tokens_details?.reasoning_tokens
  const tokens = {
    ...(promptTokenIds && { promptTokenIds }),
    ...(tokenIds && { tokenIds }),
    ...(logProbabilities && { logProbabilities }),
  }
  return {
    completion: {
      model,
      promptTokens,
      completionTokens,
      // Without counts nothing is known of what it costs, and 0 would be a lie.
      cost: prices && usage ? costOf(usage, prices) : (usage?.cost ?? null),
      text: said.text || null,
      ...tokens,
      ...(policyVersion && { policyVersion }),
      ...(id && { responseId: id }),
      ...(said.reasoning && { reasoning: said.reasoning }),
      ...(choice?.finish_reason && { finish: choice.finish_reason }),
      ...(typeof cachedTokens === 'number' && { cachedTokens }),
      ...(typeof reasoningTokens === 'number' && { reasoningTokens }),
    },
    calls: said.calls,
    message: withTokens(said.message, tokens),
    finish: choice?.finish_reason ?? 'nothing',
  }
}

/** What an answer costs. Tokens from a cache, and into one, are among those that were read. */
function costOf(usage: Usage, { prompt, completion, cached = prompt, cacheWrite = prompt }: Prices): number {
  const { cached_tokens: read, cache_write_tokens: written } = usage.prompt_tokens_details ?? {}
  const [fromCache, intoCache] = [read ?? 0, written ?? 0]
  const plain = Math.max(0, usage.prompt_tokens - fromCache - intoCache)
  const all = plain * prompt + fromCache * cached + intoCache * cacheWrite + usage.completion_tokens * completion
  return all / 1_000_000
}
type Usage = NonNullable<z.infer<typeof answerSchema>['usage']>

/** Reads what a model says and calls, and returns it as the message that is sent back. */
function readMessage({ tool_calls: made, ...given }: Partial<z.infer<typeof messageSchema>>) {
  const { content, reasoning, reasoning_content: alternative } = given
  const ids = new Set<string>()
  const calls: ToolCall[] = []
  const sent: JsonObject[] = []
  for (const [i, call] of (made ?? []).entries()) {
    const parsed = callSchema.safeParse(call)
    if (!parsed.success) continue
    const { id: named, function: called } = parsed.data
    const id = named && !ids.has(named) ? named : inventId(i)
    ids.add(id)
    calls.push({ id, ...called })
    // Streams number their calls, which requests do not.
    const { index: _, function: whole, ...rest } = call as JsonObject
    sent.push({ ...rest, id, type: 'function', function: { ...(whole as JsonObject), ...called } })
  }
  const { role: _, content: __, ...fields } = given
  const message = {
    role: 'assistant',
    content: isEmpty(content) && sent.length > 0 ? null : ((content ?? '') as Json),
    ...(Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value))) as JsonObject),
    ...(sent.length > 0 && { tool_calls: sent }),
  }
  return {
    text: readText(content, 'text'),
    reasoning: readText(reasoning, 'text') || readText(alternative, 'text') || readText(content, 'thinking'),
    calls,
    message,
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Returns the text of a content, or of those of its parts that have a kind of text. */
function readText(content: unknown, kind: 'text' | 'thinking'): string {
  if (!Array.isArray(content)) return typeof content === 'string' && kind === 'text' ? content : ''
  return content
    .map((part) => {
      const value = isObject(part) ? (part as JsonObject)[kind] : undefined
      return Array.isArray(value) ? readText(value, 'text') : typeof value === 'string' ? value : ''
    })
    .join('')
}
