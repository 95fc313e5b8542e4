import type { Completion, Json, JsonObject } from '@episodic/protocol'
import { isObject, wellFormed } from '@episodic/protocol/internal'
import { withoutTokens, withTokens } from '../messages/handed-tokens.ts'
import { plainArguments } from '../messages/read-tool-call.ts'
import { inventId, type ToolCall } from '../messages/transcript.ts'
import type { Prices } from '../model-options.ts'
import { costOf, readUsage } from './answer-cost.ts'
import { endsMalformed, MALFORMED_CALL } from './malformed-call.ts'
import { findAnswerError } from './read-answer-body.ts'
import { weightVersionsOf } from './weight-version.ts'

/** The finish reason of an answer that has filled the context of its model. */
export const CONTEXT_FULL = 'model_context_window_exceeded'

export interface Answer {
  readonly completion: Completion
  readonly calls: readonly ToolCall[]
  /**
   * It as a message that is sent back: as it came, with its tokens and fields that only its server knows, but for those
   * that are empty. A server may require what it has sent, such as its reasoning or a signature.
   */
  readonly message: JsonObject
  readonly finish: string
  /** What the server says of a call that it could not read. */
  readonly malformed?: string | undefined
}

/**
 * Parses the answer of an OpenAI-compatible server; `null` if it is not one, or an error in place of one. Half of a
 * surrogate pair in its texts becomes U+FFFD: a model that is cut in the middle of an emoji writes one.
 *
 * Fields beyond OpenAI's are from vLLM, which sends the prompt's ids beside the choices, and may name tokens by their
 * ids, from SGLang, which sends them with each choice, and those of the answer as `response_token_ids`, or in
 * `meta_info` as lists of log-probability, id and text, and from NeMo Gym, which has them in the message. Fields of
 * another shape are ignored. No schema reads them: it would take as long as the parser of JSON, and a gateway reads
 * every answer of an engine.
 */
export function parseAnswer(answer: unknown, prices: Prices | null): Answer | null {
  return isObject(answer) && !findAnswerError(answer) ? readAnswer(answer, prices) : null
}

/** The same of what `readAnswerBody` has found to be an answer. */
export function readAnswer(answer: JsonObject, prices: Prices | null): Answer {
  const choice = objectIn((answer.choices as readonly unknown[])[0])
  const own = objectIn(choice.message)
  const scored = scoredIn(objectIn(choice.meta_info).output_token_logprobs)
  const content = scoresIn(objectIn(choice.logprobs).content)
  const promptTokenIds = idsIn(answer.prompt_token_ids) ?? idsIn(choice.prompt_token_ids) ?? idsIn(own.prompt_token_ids)
  const tokenIds =
    idsIn(choice.token_ids) ??
    idsIn(choice.response_token_ids) ??
    scored?.map(([, id]) => id) ??
    idsIn(own.generation_token_ids) ??
    idsIn(content?.map(({ token }) => namedId(token)))
  const logProbabilities =
    content?.map(({ logprob }) => logprob) ?? scored?.map(([logprob]) => logprob) ?? numbersIn(own.generation_log_probs)
  const tokens = {
    ...(promptTokenIds && { promptTokenIds }),
    ...(tokenIds && { tokenIds }),
    ...(logProbabilities && { logProbabilities }),
  }
  const usage = readUsage(answer.usage)
  const said = readMessage(wellFormed(withoutTokens(own)))
  const id = textIn(answer.id)
  // A gateway such as OpenRouter says beside its own reason that of the server behind it.
  const named = choice.native_finish_reason === CONTEXT_FULL ? CONTEXT_FULL : textIn(choice.finish_reason)
  const finish = endsMalformed(choice) ? MALFORMED_CALL : named
  const malformed = textIn(choice.malformed)
  return {
    completion: {
      model: textIn(answer.model) ?? 'unknown',
      ...(usage?.counts ?? { promptTokens: 0, completionTokens: 0 }),
      cost: costOf(usage, prices),
      text: said.text || null,
      ...tokens,
      ...weightVersionsOf(answer),
      ...(id && { responseId: id }),
      ...(said.reasoning && { reasoning: said.reasoning }),
      ...(finish && { finish }),
      ...(usage && usage.cachedTokens !== null && { cachedTokens: usage.cachedTokens }),
      ...(usage && usage.reasoningTokens !== null && { reasoningTokens: usage.reasoningTokens }),
    },
    calls: said.calls,
    message: withTokens(said.message, tokens),
    finish: finish ?? 'nothing',
    ...(malformed && { malformed }),
  }
}

export function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value.toWellFormed() : null
}

/** Lists have an item for each of thousands of tokens, and a loop takes a tenth of the time of `every`. */
function idsIn(value: unknown): number[] | null {
  if (!Array.isArray(value)) return null
  for (const id of value) if (!Number.isInteger(id)) return null
  return value
}

function numbersIn(value: unknown): number[] | null {
  return Array.isArray(value) && value.every(Number.isFinite) ? value : null
}

function namedId(token: unknown): number | null {
  const [, id] = (typeof token === 'string' && /^token_id:(\d{1,9})$/.exec(token)) || []
  return id === undefined ? null : Number(id)
}

function scoresIn(value: unknown): { logprob: number; token?: unknown }[] | null {
  if (!Array.isArray(value)) return null
  for (const item of value) if (!isObject(item) || !Number.isFinite(item.logprob)) return null
  return value
}

function scoredIn(value: unknown): [score: number, id: number][] | null {
  if (!Array.isArray(value)) return null
  for (const item of value)
    if (!Array.isArray(item) || !Number.isFinite(item[0]) || !Number.isInteger(item[1])) return null
  return value
}

function readMessage({ role: _, tool_calls: made, ...given }: JsonObject) {
  const { content, reasoning, reasoning_content: alternative } = given
  const ids = new Set<string>()
  const calls: ToolCall[] = []
  const sent: JsonObject[] = []
  for (const [i, call] of (Array.isArray(made) ? made : []).entries()) {
    if (!isObject(call) || !isObject(call.function) || typeof call.function.name !== 'string') continue
    // Streams number their calls, which requests do not. Some servers send no id, an empty one, or one twice.
    const { index: _, function: whole, ...rest } = call
    const { id: named } = rest
    const id = typeof named === 'string' && named !== '' && !ids.has(named) ? named : inventId(i)
    ids.add(id)
    const { name, arguments: args } = whole as JsonObject
    // Some servers send an object, or nothing if there are no arguments.
    const called = { name: name as string, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) }
    calls.push({ id, ...called })
    const plain = { ...called, arguments: plainArguments(called.arguments) }
    sent.push({ ...rest, id, type: 'function', function: { ...(whole as JsonObject), ...plain } })
  }
  const fields = Object.entries(given).filter(
    ([name, value]) => name !== 'content' && !isEmpty(TEXTS.has(name) ? textsIn(value) : value),
  )
  const message: JsonObject = {
    role: 'assistant',
    content: contentIn(content, sent.length > 0),
    ...Object.fromEntries(fields),
    ...(sent.length > 0 && { tool_calls: sent }),
  }
  return {
    text: readText(content, 'text'),
    reasoning: readText(reasoning, 'text') || readText(alternative, 'text') || readText(content, 'thinking'),
    calls,
    message,
  }
}

/** Fields that are a text, or a list of parts of which some are texts and some are thoughts, as Mistral sends them. */
const TEXTS: ReadonlySet<string> = new Set(['content', 'reasoning', 'reasoning_content'])

function textsIn(value: Json | undefined): string | Json[] | null {
  return typeof value === 'string' || Array.isArray(value) ? value : null
}

/** White space beside a call says nothing, and servers refuse it. */
function contentIn(value: Json | undefined, hasCalls: boolean): Json {
  const content = textsIn(value)
  if (!hasCalls) return content ?? ''
  const said = Array.isArray(content) ? content.filter((part) => !isObject(part) || !isBlank(part.text)) : content
  return isEmpty(said) || isBlank(said) ? null : said
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

function readText(content: unknown, kind: 'text' | 'thinking'): string {
  if (!Array.isArray(content)) return typeof content === 'string' && kind === 'text' ? content : ''
  return content
    .map((part) => {
      const value = isObject(part) ? (part as JsonObject)[kind] : undefined
      return Array.isArray(value) ? readText(value, 'text') : typeof value === 'string' ? value : ''
    })
    .join('')
}
