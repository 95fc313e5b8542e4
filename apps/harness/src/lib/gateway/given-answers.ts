import { hash } from 'node:crypto'
import { type Completion, canonicalJson, type Json, type JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { ChatBody } from '../models/concessions.ts'
import { lastTokens, withTokens } from '../models/handed-tokens.ts'
import type { Answer } from '../models/parse-answer.ts'
import { argumentsOf, partsOf } from './dialect.ts'

/** A request, and the hashes of its conversation: before its first message, and after each one. */
export interface Conversation {
  readonly chat: ChatBody
  readonly hashes: readonly string[]
  /** The same for requests that ask the same. */
  readonly key: string
}

/** Reads a conversation without what an agent may change between two requests: ids, thoughts, and spaces around. */
export function readConversation(chat: ChatBody): Conversation {
  const { messages, tools = [], ...rest } = chat
  const hashes = [hash('sha256', JSON.stringify(tools))]
  for (const message of messages) hashes.push(after(hashes.at(-1) as string, message))
  return { chat, hashes, key: hash('sha256', JSON.stringify([hashes.at(-1) as string, rest])) }
}

/**
 * Finds in a request the answers that were given before in the same conversation, however the agent writes them now.
 * They are sent to the engine as it wrote them, the last one with its tokens: a server that takes these begins the next
 * prompt with exactly what was sampled.
 */
export class GivenAnswers {
  /** By the hash of the conversation that ends with them. */
  readonly #given = new Map<string, Pick<Answer, 'message'> & { readonly tokens: Partial<Completion> }>()

  /** Adds the answer to a request. */
  add({ hashes }: Conversation, { message, completion }: Answer): void {
    const { promptTokenIds, tokenIds, logProbabilities } = completion
    const tokens = { promptTokenIds, tokenIds, logProbabilities }
    this.#given.set(after(hashes.at(-1) as string, message), { message, tokens })
  }

  /** Returns a request with what is known of its conversation. */
  restore({ chat, hashes }: Conversation): ChatBody {
    const messages = chat.messages.map((message, i) => {
      const given = message.role === 'assistant' ? this.#given.get(hashes[i + 1] as string) : undefined
      return given ? withTokens(withIdsOf(message, given.message), given.tokens) : message
    })
    return { ...chat, messages: lastTokens(messages) }
  }
}

/** Results of tools name the ids that the agent knows. */
function withIdsOf({ tool_calls: known }: JsonObject, message: JsonObject): JsonObject {
  const ids = partsOf(known).map(({ id }) => id)
  const calls = partsOf(message.tool_calls).map((call, i) => ({ ...call, id: ids[i] ?? call.id ?? '' }))
  return calls.length === 0 ? message : { ...message, tool_calls: calls }
}

/** The hash of a conversation that goes on with a message. */
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
