import { hash } from 'node:crypto'
import { type Completion, canonicalJson, type Json, type JsonObject, type ModelRequest } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { Answer } from '../answers/parse-answer.ts'
import { lastTokens, withoutTokens, withTokens } from '../messages/handed-tokens.ts'
import { countShared } from '../messages/shared-messages.ts'
import type { ChatBody } from '../requests/concessions.ts'
import { argumentsOf, partsOf } from './dialect.ts'

/** A request, and the hashes of its conversation: before its first message, and after each one. */
export interface Conversation {
  readonly chat: ChatBody
  readonly hashes: readonly string[]
  /** The same for requests that ask the same. */
  readonly key: string
}

/**
 * Reads a conversation without what an agent may change between two requests: ids, thoughts, and spaces around.
 *
 * @param last - an earlier one, whose hashes hold for the messages that both begin with.
 */
export function readConversation(chat: ChatBody, last: Conversation | null): Conversation {
  const { messages, tools: _, ...rest } = chat
  const asked = requestOf(chat)
  const shared = last ? countShared(asked, requestOf(last.chat)) : 0
  const hashes =
    shared > 0 ? (last as Conversation).hashes.slice(0, shared + 1) : [hash('sha256', JSON.stringify(asked.tools))]
  for (let i = shared; i < messages.length; i++) hashes.push(after(hashes[i] as string, messages[i] as JsonObject))
  return { chat, hashes, key: hash('sha256', JSON.stringify([hashes.at(-1) as string, rest])) }
}

export function requestOf({ messages, tools = [] }: ChatBody): ModelRequest {
  return { messages, tools: tools as unknown as JsonObject[] }
}

/**
 * Finds in a request the answers that were given before in the same conversation, however the agent writes them now.
 * They are sent to the engine as it wrote them, the last one with its tokens: a server that takes these begins the next
 * prompt with exactly what was sampled.
 */
export class GivenAnswers {
  /** By the hash of the conversation that ends with them. */
  readonly #given = new Map<string, { readonly message: JsonObject; readonly tokens: PackedTokens | null }>()

  add({ hashes }: Conversation, { message, completion }: Answer, hasTokens: boolean): void {
    const tokens = hasTokens ? pack(completion) : null
    this.#given.set(after(hashes.at(-1) as string, message), { message, tokens })
  }

  restore({ chat, hashes }: Conversation, hasTokens: boolean): ChatBody {
    const last = chat.messages.findLastIndex(
      ({ role }, i) => role === 'assistant' && this.#given.has(hashes[i + 1] ?? ''),
    )
    const messages = chat.messages.map((message, i) => {
      const given = message.role === 'assistant' ? this.#given.get(hashes[i + 1] as string) : undefined
      // Tokens are those that were sampled, whatever an agent says.
      if (!given) return withoutTokens(message)
      const own = withIdsOf(message, given.message)
      return hasTokens && i === last && given.tokens ? withTokens(own, unpack(given.tokens)) : own
    })
    return { ...chat, messages: lastTokens(messages) }
  }
}

/** Thousands of ids for each answer, where no collection of garbage looks at them. */
type PackedTokens = NonNullable<ReturnType<typeof pack>>

function pack({ promptTokenIds: prompt, tokenIds: ids, logProbabilities: scores }: Completion) {
  if (!prompt || !ids || !scores) return null
  return { prompt: Int32Array.from(prompt), ids: Int32Array.from(ids), scores: Float64Array.from(scores) }
}

function unpack({ prompt, ids, scores }: PackedTokens): Partial<Completion> {
  return { promptTokenIds: [...prompt], tokenIds: [...ids], logProbabilities: [...scores] }
}

/** Results of tools name the ids that the agent knows. */
function withIdsOf({ tool_calls: known }: JsonObject, message: JsonObject): JsonObject {
  const ids = partsOf(known).map(({ id }) => id)
  const calls = partsOf(message.tool_calls).map((call, i) => ({ ...call, id: ids[i] ?? call.id ?? '' }))
  return calls.length === 0 ? message : { ...message, tool_calls: calls }
}

function after(before: string, { role, content, tool_calls: made }: JsonObject): string {
  const calls = partsOf(made).map(({ function: called }) => {
    const { name = '', arguments: args } = (isObject(called) ? called : {}) as JsonObject
    return [name, canonicalJson(typeof args === 'string' ? argumentsOf(args) : (args ?? {}))]
  })
  return hash('sha256', JSON.stringify([before, role === 'developer' ? 'system' : role, toText(content), calls]))
}

function toText(content: Json | undefined): string {
  const texts = partsOf(content).map((part) => (typeof part.text === 'string' ? part.text : JSON.stringify(part)))
  return texts.join('\n').trim()
}
