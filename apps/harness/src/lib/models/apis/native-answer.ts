import type { Json, JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/base/internal'
import { jsonOf } from '../../base/json.ts'
import type { NativeApi } from '../model-options.ts'

/** An answer of a provider: what the library reads of it, and what is kept beside that. */
export interface NativeAnswer {
  /** As the library takes it: it rejects an answer in which it does not know one field. */
  readonly body: JsonObject
  /** Parts that nobody here knows, as they came. */
  readonly unknown: readonly Json[]
  /** Whether the provider counted its tokens. */
  readonly isCounted: boolean
  /** What the provider says of how it ended, beside the reason. */
  readonly ended: string | null
}

/**
 * Reads of an answer what is needed: its parts, why it ended, and the counts of its tokens. Servers that speak the API
 * of another provider leave out the rest, or add to it. Returns `null` for a body that has no part of an answer, such
 * as an error.
 */
export function readNativeAnswer(api: NativeApi, text: string): NativeAnswer | null {
  const body = jsonOf(text)
  if (!isObject(body) || ('error' in body && body.error !== null)) return null
  return api === 'anthropic' ? readMessage(body as JsonObject) : readCandidates(body as JsonObject)
}

function readMessage({ content, stop_reason: reason, usage, id, model }: JsonObject): NativeAnswer | null {
  if (content === undefined && typeof reason !== 'string') return null
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listIn(content)
  const read = blocks.map(
    (block, i) => [block, knownBlock(block, `${typeof id === 'string' ? id : 'call'}_${i}`)] as const,
  )
  const counts = numbersOf(usage)
  return {
    body: {
      type: 'message',
      ...textsOf({ id, model, stop_reason: reason }),
      content: read.flatMap(([, known]) => known ?? []),
      usage: { input_tokens: 0, output_tokens: 0, ...counts },
    },
    unknown: read.flatMap(([block, known]) => (known ? [] : [block])),
    isCounted: 'input_tokens' in counts && 'output_tokens' in counts,
    ended: null,
  }
}

/** @param invented - the id of a call that has none. */
function knownBlock(block: Json, invented: string): JsonObject | null {
  if (!isObject(block)) return null
  const { type, text, thinking, signature, data, name, id, input } = block as JsonObject
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (type === 'thinking' && typeof thinking === 'string')
    return { type, thinking, signature: typeof signature === 'string' ? signature : '' }
  if (type === 'redacted_thinking' && typeof data === 'string') return { type, data }
  if (type === 'tool_use' && typeof name === 'string')
    return { type, name, id: typeof id === 'string' && id !== '' ? id : invented, input: input ?? {} }
  return null
}

function readCandidates(answer: JsonObject): NativeAnswer | null {
  const { candidates, promptFeedback: feedback, usageMetadata: usage, responseId, modelVersion } = answer
  const blocked = isObject(feedback) ? textsOf({ blockReason: (feedback as JsonObject).blockReason }) : {}
  const [first] = listIn(candidates)
  if (!isObject(first) && !('blockReason' in blocked)) return null
  const { content, finishReason, finishMessage } = isObject(first) ? (first as JsonObject) : {}
  const parts = isObject(content) ? listIn((content as JsonObject).parts) : []
  const read = parts.map((part) => [part, knownPart(part)] as const)
  const counts = numbersOf(usage)
  return {
    body: {
      ...textsOf({ responseId, modelVersion }),
      candidates: isObject(first)
        ? [
            {
              content: { parts: read.flatMap(([, known]) => known ?? []) },
              ...textsOf({ finishReason, finishMessage }),
            },
          ]
        : [],
      promptFeedback: blocked,
      usageMetadata: counts,
    },
    // A picture that a model drew is for nobody here.
    unknown: read.flatMap(([part, known]) => (known || (isObject(part) && 'inlineData' in part) ? [] : [part])),
    isCounted: 'promptTokenCount' in counts,
    ended: typeof finishMessage === 'string' ? finishMessage : null,
  }
}

function knownPart(part: Json): JsonObject | null {
  if (!isObject(part)) return null
  const { text, functionCall: call, thought, thoughtSignature } = part as JsonObject
  const more = { ...textsOf({ thoughtSignature }), ...(thought === true && { thought }) }
  if (typeof text === 'string') return { text, ...more }
  if (!isObject(call) || typeof call.name !== 'string') return null
  const { name, id, args } = call as JsonObject
  return { functionCall: { name: name as string, ...textsOf({ id }), args: args ?? {} }, ...more }
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function textsOf(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'string')) as JsonObject
}

/** The counts among some fields, and those in objects of them: how many tokens were thought. */
function numbersOf(value: Json | undefined): JsonObject {
  if (!isObject(value)) return {}
  const counts = Object.entries(value as JsonObject).flatMap(([name, count]): [string, Json][] =>
    typeof count === 'number' ? [[name, count]] : isObject(count) ? [[name, numbersOf(count as JsonObject)]] : [],
  )
  return Object.fromEntries(counts)
}
