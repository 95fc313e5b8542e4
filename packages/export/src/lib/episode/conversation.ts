import {
  type Completion,
  type EpisodeRecord,
  type Json,
  type JsonObject,
  type ModelRequest,
  playedCalls,
  type Refusal,
  requestsOf,
} from '@episodic/protocol'
import { answerMessage, isObject, resultMessage } from '@episodic/protocol/internal'
import { completionsOf } from '@episodic/report/fold/completions'
import { callIdOf, chatOf } from './chat.ts'

export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  /** What a model returned as its reasoning, apart from `content`. */
  readonly reasoning?: string | undefined
  /** Of an assistant: the calls that it made. */
  readonly calls?: readonly MessageCall[] | undefined
  /** Of a tool: the id of the call that it answers, and its name. */
  readonly callId?: string | undefined
  readonly tool?: string | undefined
  /** Of a tool: why the world refused the call. */
  readonly refused?: Refusal | undefined
}

export interface MessageCall {
  readonly id: string
  readonly name: string
  /** JSON text, or what a model wrote in its place. */
  readonly arguments: string
}

/**
 * Returns an episode as a conversation: the messages before the first answer, and those from it on. It is the one that
 * a language model had, where that is recorded and each request continues the one before; else the task and the first
 * observation, then each action as a call with its result.
 *
 * @param ids - `own`: calls are numbered as `call_<start of the episode's chain>_<number from 1>`, which is the number
 *   of the step if each call was played. `sent`: as the model and the requests had them.
 */
export function conversationOf(record: EpisodeRecord, ids: 'own' | 'sent' = 'own') {
  const messages = withTools(recorded(record) ?? played(record), record, ids)
  const first = messages.findIndex(({ role }) => role === 'assistant')
  const end = first === -1 ? messages.length : first
  return { prompt: messages.slice(0, end), completion: messages.slice(end) }
}

function played(record: EpisodeRecord): Message[] {
  const { opening, turns } = chatOf(record)
  return [
    { role: 'user', content: opening },
    ...turns.flatMap(({ text, calls, reply, steps: [step] }): Message[] => [
      {
        role: 'assistant',
        content: text,
        reasoning: step?.completions?.at(-1)?.reasoning,
        ...(reply === null && {
          calls: calls.map(({ id, tool, arguments: args }) => ({ id, name: tool, arguments: JSON.stringify(args) })),
        }),
      },
      ...calls.map(({ id, result }): Message => ({ role: 'tool', content: result, callId: id })),
      ...(reply ? [{ role: 'user' as const, content: reply }] : []),
    ]),
  ]
}

/** The conversation of the requests; `null` if they were not recorded, or are not one conversation. */
function recorded(record: EpisodeRecord): Message[] | null {
  const completions = completionsOf(record)
  const requests = requestsOf(record)
  const [first] = requests
  if (!first) return null
  const messages = first.messages.map(parseMessage)
  for (const [i, completion] of completions.entries()) {
    const [before, next] = [requests[i], requests[i + 1]]
    if (!before || next === null) return null
    const added = next ? addedTo(before, completion, next) : ending(record, completion)
    const [answer, ...rest] = added?.map(parseMessage) ?? []
    if (answer?.role !== 'assistant') return null
    messages.push({ ...answer, reasoning: completion.reasoning }, ...rest)
  }
  return messages
}

/**
 * The messages of a request that the one before did not have, from the answer to that one on. A policy may leave out
 * old messages of a long conversation; then the answer is found by its text.
 */
function addedTo(before: ModelRequest, completion: Completion, next: ModelRequest): readonly JsonObject[] {
  if (before.messages.every((message, i) => message === next.messages[i]))
    return next.messages.slice(before.messages.length)
  const answer = JSON.stringify(answerMessage(completion))
  const place = next.messages.findLastIndex((message) => JSON.stringify(message) === answer)
  return place === -1 ? [] : next.messages.slice(place)
}

/** The last answer, and what the environment answered to its calls. */
function ending({ steps, undecided = [] }: EpisodeRecord, completion: Completion): readonly JsonObject[] {
  const calls = undecided.length > 0 ? [] : playedCalls(steps)
  const results = steps.map((step, i) => {
    const answer = calls[i]?.answer ?? (step.speech && undecided.length === 0 ? step.completions?.at(-1) : undefined)
    return answer === completion ? resultMessage(step, calls[i]) : null
  })
  return [answerMessage(completion), ...results.filter((result) => result !== null)]
}

/** Reads a message in the shape of chat completions, as far as other formats can show it. */
export function parseMessage({ role, content, tool_calls: calls, tool_call_id: callId }: JsonObject): Message {
  const text = toContentText(content)
  if (role === 'tool') return { role, content: text, callId: String(callId ?? '') }
  if (role !== 'assistant')
    return { role: role === 'system' || role === 'developer' ? 'system' : 'user', content: text }
  return { role, content: text, ...(Array.isArray(calls) && calls.length > 0 && { calls: calls.map(parseCall) }) }
}

/** Parts that are no text, such as images, are kept as JSON. */
function toContentText(content: Json | undefined): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content ? JSON.stringify(content) : ''
  return content
    .map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : JSON.stringify(part)))
    .join('\n')
}

function parseCall(call: Json): MessageCall {
  const { id, function: made } = isObject(call) ? call : {}
  const { name, arguments: args } = isObject(made) ? made : {}
  const text = typeof args === 'string' ? args : JSON.stringify(args ?? {})
  return { id: String(id ?? ''), name: String(name ?? ''), arguments: text }
}

/**
 * Adds to each result which call it answers, and whether it was refused. Own ids replace those of models, some of which
 * give the same id again and again.
 */
function withTools(messages: readonly Message[], { chain, steps }: EpisodeRecord, ids: 'own' | 'sent'): Message[] {
  const count = messages.reduce((sum, { calls = [] }) => sum + calls.length, 0)
  const called = steps.flatMap((step, i) => (step.speech ? [] : [i]))
  const open = new Map<string, { readonly id: string; readonly name: string; readonly refused: Refusal | null }>()
  let number = 0
  return messages.map((message) => {
    const calls = message.calls?.map((call) => {
      const place = count === called.length ? called[number] : undefined
      const refused = place === undefined ? null : (steps[place]?.refused ?? null)
      const id = ids === 'own' ? callIdOf(chain, (place ?? number) + 1) : call.id
      number += 1
      open.set(call.id, { id, name: call.name, refused })
      return { ...call, id }
    })
    const answered = message.callId === undefined ? undefined : open.get(message.callId)
    return {
      ...message,
      ...(calls && { calls }),
      ...(answered && { callId: answered.id, tool: answered.name }),
      ...(answered?.refused && { refused: answered.refused }),
    }
  })
}
