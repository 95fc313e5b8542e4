import type { Action, JsonObject, Observation } from '@episodic/protocol'
import { type Content, joinContents, userMessage } from './media-parts.ts'

/** A message of chat completions, with all fields that a server sent. */
export type Message = JsonObject
type Exchange = readonly Message[]

/** Maximum characters of earlier exchanges in a request. The oldest are dropped first. */
const MAX_CHARACTERS = 200_000

export type Transcript = ReturnType<typeof createTranscript>

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

export function createTranscript(
  instructions: string,
  greeting: string | undefined,
  asked: readonly string[],
  { text, attachments }: Observation,
) {
  const opening: readonly Message[] = [
    ...(instructions === '' ? [] : [{ role: 'system' as const, content: instructions }]),
    ...(greeting === undefined ? [] : [assistant(greeting)]),
    userMessage(joinParagraphs([...asked, text]), attachments),
  ]
  const exchanges: Exchange[] = []
  let remembered = 0
  let messages: readonly Message[] = opening
  return {
    /** No two messages of the user follow each other: some servers refuse that. */
    get messages(): readonly Message[] {
      return messages
    },
    add(exchange: Exchange): void {
      exchanges.push(exchange)
      remembered += lengthOf(exchange)
      messages = joined(messages, exchange)
      if (remembered <= MAX_CHARACTERS) return
      while (remembered > MAX_CHARACTERS && exchanges.length > 1) remembered -= lengthOf(exchanges.shift() as Exchange)
      messages = joined(opening, exchanges.flat())
    },
  }
}

export function joinParagraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

/** Messages that were there stay the same objects: each is prepared for its server once. */
function joined(earlier: readonly Message[], added: readonly Message[]): readonly Message[] {
  const all = [...earlier]
  for (const message of added) {
    const last = all.at(-1)
    if (last?.role === 'user' && message.role === 'user')
      all[all.length - 1] = { ...last, content: joinContents(last.content as Content, message.content as Content) }
    else all.push(message)
  }
  return all
}

/** Returns an answer with calls, beside which white space says nothing. */
export function assistant(text: string | null, calls: readonly ToolCall[] = [], reasoning = ''): Message {
  const made = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }))
  return {
    role: 'assistant',
    content: text?.trim() || made.length === 0 ? (text ?? '') : null,
    ...(reasoning !== '' && { reasoning }),
    ...(made.length > 0 && { tool_calls: made }),
  }
}

export function callOf({ tool, arguments: args }: Action, number: number): ToolCall {
  return { id: inventId(number), name: tool, arguments: JSON.stringify(args) }
}

/** Returns an id for a call that has none. Mistral takes nine letters or digits, and nothing else. */
export function inventId(number: number): string {
  return `call${String(number % 100_000).padStart(5, '0')}`
}

function lengthOf(exchange: Exchange): number {
  return exchange.reduce((sum, message) => sum + JSON.stringify(message, withoutPicture).length, 0)
}

/** Characters that a picture counts as: models read one as some hundred to a few thousand tokens. */
const PICTURE = ' '.repeat(4_000)

function withoutPicture(key: string, value: unknown): unknown {
  return key === 'url' && typeof value === 'string' && value.startsWith('data:') ? PICTURE : value
}
