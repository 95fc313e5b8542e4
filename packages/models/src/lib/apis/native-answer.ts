import type { Json, JsonObject } from '@episodic/protocol'
import { isObject, toText } from '@episodic/protocol/base/internal'
import { objectOf } from '@episodic/run/base/json'
import { objectIn } from '../answers/parse-answer.ts'
import type { NativeApi } from '../model-options.ts'

export interface NativeAnswer {
  /** As the library takes it: it rejects an answer in which it does not know one field. */
  readonly body: JsonObject
  /** Parts that nobody here knows, as they came. */
  readonly unknown: readonly Json[]
  readonly isCounted: boolean
  /** What the provider says of how it ended, beside the reason. */
  readonly ended: string | null
}

/**
 * Reads of an answer what is needed: its parts, why it ended, and the counts of its tokens. Servers that speak the API
 * of another provider leave out the rest, or add to it. Returns `null` for a body without an answer, such as an error.
 */
export function readNativeAnswer(api: NativeApi, text: string): NativeAnswer | null {
  const body = objectOf(text)
  if (!body || isObject(body.error)) return null
  return api === 'anthropic' ? readMessage(body) : readCandidates(body)
}

function readMessage({ content, stop_reason: reason, usage, id, model }: JsonObject): NativeAnswer | null {
  if (content === undefined && typeof reason !== 'string') return null
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listIn(content)
  const known = blocks.map((block, i) => knownBlock(objectIn(block), `${toText(id) || 'call'}_${i}`))
  const counts = numbersOf(usage)
  const usual = { input_tokens: 0, output_tokens: 0, ...counts }
  return {
    body: { type: 'message', ...textsOf({ id, model, stop_reason: reason }), content: known.flat(), usage: usual },
    unknown: blocks.filter((_, i) => known[i]?.length === 0),
    isCounted: 'input_tokens' in counts && 'output_tokens' in counts,
    ended: null,
  }
}

/** @param invented - the id of a call that has none. */
function knownBlock(
  { type, text, thinking, signature, data, name, id, input }: JsonObject,
  invented: string,
): JsonObject[] {
  if (type === 'text' && typeof text === 'string') return [{ type, text }]
  if (type === 'thinking' && typeof thinking === 'string') return [{ type, thinking, signature: toText(signature) }]
  if (type === 'redacted_thinking' && typeof data === 'string') return [{ type, data }]
  if (type !== 'tool_use' || typeof name !== 'string') return []
  return [{ type, name, id: toText(id) || invented, input: input ?? {} }]
}

function readCandidates({ candidates, promptFeedback, usageMetadata, responseId }: JsonObject): NativeAnswer | null {
  const blocked = textsOf({ blockReason: objectIn(promptFeedback).blockReason })
  const [first] = listIn(candidates)
  if (!isObject(first) && !blocked.blockReason) return null
  const { content, finishReason, finishMessage } = objectIn(first)
  const parts = listIn(objectIn(content).parts)
  const known = parts.map((part) => knownPart(objectIn(part)))
  const counts = numbersOf(usageMetadata)
  const candidate = { content: { parts: known.flat() }, ...textsOf({ finishReason, finishMessage }) }
  return {
    body: {
      ...textsOf({ responseId }),
      candidates: isObject(first) ? [candidate] : [],
      promptFeedback: blocked,
      usageMetadata: counts,
    },
    // A picture that a model drew is for nobody here.
    unknown: parts.filter((part, i) => known[i]?.length === 0 && !('inlineData' in objectIn(part))),
    isCounted: 'promptTokenCount' in counts,
    ended: typeof finishMessage === 'string' ? finishMessage : null,
  }
}

function knownPart({ text, functionCall: call, thought, thoughtSignature }: JsonObject): JsonObject[] {
  const more = { ...textsOf({ thoughtSignature }), ...(thought === true && { thought }) }
  if (typeof text === 'string') return [{ text, ...more }]
  const { name, id, args } = objectIn(call)
  return typeof name === 'string' ? [{ functionCall: { name, ...textsOf({ id }), args: args ?? {} }, ...more }] : []
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function textsOf(fields: Readonly<Record<string, Json | undefined>>): Readonly<Record<string, string>> {
  const texts = Object.entries(fields).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(texts) as Record<string, string>
}

/** The counts among some fields, and those in objects of them: how many tokens were thought. */
function numbersOf(value: Json | undefined): JsonObject {
  const isCount = (each: unknown) => typeof each === 'number' || isObject(each)
  return JSON.parse(JSON.stringify(objectIn(value), (_, each: unknown) => (isCount(each) ? each : undefined)))
}
