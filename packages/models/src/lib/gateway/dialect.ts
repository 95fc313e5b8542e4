import type { Json, JsonObject } from '@episodic/protocol'
import { isObject, toText } from '@episodic/protocol/internal'
import { objectOf } from '@episodic/run/base/json'
import type { Answer } from '../answers/parse-answer.ts'
import type { ToolCall } from '../messages/transcript.ts'
import type { ChatBody } from '../requests/concessions.ts'

/**
 * An API of language models, as a translation to chat completions and back. Of these alone engines return token ids.
 */
export interface Dialect {
  /**
   * Returns a request as one of chat completions, without `stream` and with one choice. Throws {@link BadRequest} for
   * one that cannot be translated.
   *
   * @param path - below the root of the API, such as `models/m:generateContent`.
   */
  readRequest(body: JsonObject, path: string): { readonly chat: ChatBody; readonly isStreamed: boolean }
  toAnswer(reply: Reply): object
  toEvents(reply: Reply): readonly ServerSentEvent[]
  toModel(id: string): object
  toModels(ids: readonly string[]): object
  toError(status: number, message: string, field?: string): object
}

export interface Reply {
  readonly answer: Answer
  /** Names the answer; letters and digits. */
  readonly id: string
  readonly body: JsonObject
}

export interface ServerSentEvent {
  /** Default: events of this API have no names. */
  readonly event?: string
  readonly data: object | string
}

export class BadRequest extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

export const OPENAI_MODELS = {
  toModel,
  toModels: (ids: readonly string[]) => ({ object: 'list', data: ids.map(toModel) }),
} satisfies Pick<Dialect, 'toModel' | 'toModels'>

function toModel(id: string): object {
  return { id, object: 'model', created: 0, owned_by: 'engine' }
}

export function openAiError(status: number, message: string, field?: string): object {
  const type = status < 500 ? 'invalid_request_error' : 'server_error'
  return { error: { message, type, param: field ?? null, code: field === undefined ? null : 'unsupported_value' } }
}

export type Part = JsonObject

/** Returns the items of a list that are objects; a text is one part of text. */
export function partsOf(content: Json | undefined): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** Returns a list of parts as the content of a chat message: a text, unless there is something else. */
export function contentOf(parts: readonly Part[]): Json {
  return parts.every(({ type }) => type === 'text')
    ? parts.map(({ text }) => toText(text)).join('\n')
    : (parts as Json[])
}

export function toolCallOf(id: Json | undefined, name: Json | undefined, args: Json | undefined): ToolCall {
  return { id: toText(id), name: toText(name), arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) }
}

/** Returns the arguments of a call as an object; a text that is none is its member `arguments`. */
export function argumentsOf(text: string): JsonObject {
  return objectOf(text === '' ? '{}' : text) ?? { arguments: text }
}

export function renamed(body: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => {
      const value = body[from]
      return value === undefined || value === null ? [] : [[to, value] as const]
    }),
  )
}
