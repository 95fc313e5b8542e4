import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '@episodic/protocol'
import { isObject, shorten } from '@episodic/protocol/internal'
import { hasMedia, joinContents, joinTexts, type Medium, withoutMedia } from '../messages/media-parts.ts'

export type ChatBody = JsonObject & { readonly messages: readonly JsonObject[] }

/**
 * Something that many servers take and some refuse. A request is sent without it once a server has refused it by name.
 */
interface Concession {
  readonly name: string
  /** Whether the server takes the field, and not the value that it has. Default: `false`. */
  readonly isAboutValue?: boolean
  /** Whether a body has what the words of a refusal are about. */
  fits(words: string, body: ChatBody): boolean
  change(body: ChatBody): ChatBody
}

/** Words of a refusal that is about a field, and not about its value. */
const UNSUPPORTED =
  /unsupported|not (?:be )?(?:support|permit|allow|enabled|accept)|(?:does not|doesn't|only|must|requires?)\b|un(?:known|expected|recogni[sz]ed)|extra|forbidden|unavailable|disabled|no such/i

function parameter(name: string, pattern: RegExp = new RegExp(`\\b${name}\\b`, 'i')): Concession {
  return {
    name,
    fits: (words, body) => name in body && pattern.test(words),
    change: ({ [name]: _, ...rest }) => rest as ChatBody,
  }
}

function medium(name: string, type: Medium, pattern: RegExp): Concession {
  return {
    name,
    isAboutValue: true,
    fits: (words, { messages }) => messages.some(({ content }) => hasMedia(content, [type])) && pattern.test(words),
    change: mapMessages((message) =>
      hasMedia(message.content, [type]) ? { ...message, content: withoutMedia(message.content, type) } : message,
    ),
  }
}

const CONCESSIONS: readonly Concession[] = [
  {
    name: 'max_tokens as max_completion_tokens',
    fits: (words, body) => 'max_tokens' in body && /\bmax_completion_tokens\b/.test(words),
    change: ({ max_tokens: most = null, ...rest }) => ({ ...rest, max_completion_tokens: most }) as ChatBody,
  },
  parameter('seed'),
  parameter('temperature'),
  parameter('parallel_tool_calls'),
  parameter('tool_choice', /\btool[_ ]choice\b/i),
  {
    name: 'answers that are not streamed',
    fits: (words, { stream }) => stream !== true && /\bstream(?:ing)?\b/i.test(words),
    change: (body) => ({ ...body, stream: true, stream_options: { include_usage: true } }),
  },
  // Some servers only say which parts of a content they know.
  medium('files', 'file', /\bfiles?\b|pdf|document|content|\bparts?\b|media|modal|message format/i),
  medium('images', 'image_url', /image|vision|visual|multi-?modal/i),
  {
    name: 'content: null',
    isAboutValue: true,
    fits: (words, { messages }) =>
      messages.some(({ content }) => content === null) && /\bcontent\b.*(?:string|null|none)/is.test(words),
    change: mapMessages((message) => (message.content === null ? { ...message, content: '' } : message)),
  },
  {
    name: 'role: system',
    fits: (words, { messages }) =>
      messages[0]?.role === 'system' && /\b(?:system|developer)\b.*\b(?:role|message|instruction|prompt)/is.test(words),
    change: (body) => ({ ...body, messages: withoutSystem(body.messages) }),
  },
]

export class Concessions {
  readonly #fixed: readonly string[]
  readonly #made: Concession[]

  /** Default: none. */
  constructor(fixed: readonly string[] = [], made: readonly Concession[] = []) {
    this.#fixed = fixed
    this.#made = [...made]
  }

  /** Returns the same ones, to which others are added apart. */
  copy(): Concessions {
    return new Concessions(this.#fixed, this.#made)
  }

  /** What is left out, as it is recorded; empty for nothing. */
  get names(): readonly string[] {
    return this.#made.map(({ name }) => name)
  }

  apply(body: ChatBody): ChatBody {
    return this.#made.reduce((changed, { change }) => change(changed), body)
  }

  /**
   * Learns from a refusal. Returns the name of what is left out from now on; `null` if the words name nothing that the
   * body had and could do without.
   */
  learn(words: string, body: ChatBody): string | null {
    const isUnsupported = UNSUPPORTED.test(words)
    const known = CONCESSIONS.find(
      (each) => (isUnsupported || each.isAboutValue) && each.fits(words, body) && this.#isAllowed(each, body),
    )
    const found = known ?? longDescriptions(words, body) ?? (isUnsupported ? fieldOfMessage(words, body) : undefined)
    // A request that asks at the same time as another may be refused for what that one has learned already.
    if (found && !this.names.includes(found.name)) this.#made.push(found)
    return found?.name ?? null
  }

  #isAllowed({ change }: Concession, body: ChatBody): boolean {
    const changed = change(body)
    return this.#fixed.every((name) => changed[name] === body[name])
  }
}

/** Descriptions of tools that are too long for a server, which says how long they may be, or is taken for OpenAI's. */
function longDescriptions(words: string, { tools = [] }: ChatBody): Concession | undefined {
  const said = /description(.*)/is.exec(words)?.[1]
  const most = Number(/\d{2,5}/.exec(said ?? '')?.[0] ?? 1_024)
  const cut = (key: string, value: unknown) =>
    key === 'description' && typeof value === 'string' && value.length > most ? shorten(value, most - 1) : value
  const shortened = (whole: Json): Json => JSON.parse(JSON.stringify(whole), cut)
  if (said === undefined || isDeepStrictEqual(shortened(tools), tools)) return undefined
  const change = (body: ChatBody) => ({ ...body, tools: shortened(body.tools as Json) })
  return { name: `descriptions of tools beyond ${most} characters`, fits: () => true, change }
}

/** Fields of messages and calls that every server takes. */
const COMMON: ReadonlySet<string> = new Set([
  ...['role', 'content', 'tool_calls', 'tool_call_id'],
  ...['id', 'type', 'function', 'name', 'arguments'],
])

/** A field of the model's own messages that another server would want back, and this one refuses. */
function fieldOfMessage(words: string, { messages }: ChatBody): Concession | undefined {
  const own = messages.filter(({ role }) => role === 'assistant')
  const calls = own.flatMap(({ tool_calls: made }) => (Array.isArray(made) ? made.filter(isObject) : []))
  const fields = new Set([...own, ...calls].flatMap(Object.keys))
  const named = [...fields].find((field) => !COMMON.has(field) && words.includes(field))
  if (named === undefined) return undefined
  const without = ({ [named]: _, ...rest }: JsonObject): JsonObject => rest
  return {
    name: `${named} of messages`,
    fits: () => true,
    change: mapMessages((message) => {
      if (message.role !== 'assistant') return message
      const { tool_calls: made } = message
      const rest = without(message)
      return Array.isArray(made)
        ? { ...rest, tool_calls: made.map((call) => (isObject(call) ? without(call) : call)) }
        : rest
    }),
  }
}

function mapMessages(change: (message: JsonObject) => JsonObject): (body: ChatBody) => ChatBody {
  return (body) => ({ ...body, messages: body.messages.map(change) })
}

/** Puts the instructions in front of the first message of the user. */
function withoutSystem([system, first, ...rest]: readonly JsonObject[]): JsonObject[] {
  const text = joinTexts(system?.content)
  if (first?.role !== 'user') return [{ role: 'user', content: text }, ...(first ? [first] : []), ...rest]
  return [{ ...first, content: joinContents(text, first.content as string) as string }, ...rest]
}
