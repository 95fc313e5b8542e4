import { isDeepStrictEqual } from 'node:util'
import type { ModelAnswer } from '@episodic/env'
import type { Action, JsonObject, Observation, ToolInfo } from '@episodic/protocol'
import { type RecordedCall, shorten, toText } from '@episodic/protocol/internal'
import { cleanText } from '@episodic/report/text/format'
import { MALFORMED_CALL } from '../answers/malformed-call.ts'
import type { Answer } from '../answers/parse-answer.ts'
import { withoutTokens } from '../messages/handed-tokens.ts'
import { userMessage } from '../messages/media-parts.ts'
import { isAction, readCall } from '../messages/read-tool-call.ts'
import { assistant, callOf, type Message, type ToolCall } from '../messages/transcript.ts'

/** What a model has answered: calls, which are played one after the other, and what is replied to each of them. */
export interface Turn {
  readonly recorded: readonly RecordedCall[]
  next(): Action | null
  /** Goes on behind an action that was played: of those that are left, or in place of the next. `false` if none is. */
  take(action: Action, tools: readonly ToolInfo[]): boolean
  reply(observation: Pick<Observation, 'text' | 'attachments'>): void
  /** The answer with the replies to it, once no call is left. */
  readonly messages: readonly Message[]
  readonly mistake: { readonly words: string; readonly hasCall: boolean }
}

/** What an answer was that a policy reported: with fields that only its server knows, and no report has. */
export const reportedAnswers = new WeakMap<ModelAnswer, Answer>()

/** The reply to a call that is not played, because the player plays one call of an answer. */
const NOT_PLAYED = 'This call was not played: one call of an answer is. Call the tool again if you still want to.'

interface ReadCall {
  readonly call: ToolCall
  readonly read: Action | string
}

/**
 * Returns the turn of an answer. Calls whose arguments can be read are played in their order, or the first of them
 * alone. The others are taken out of the answer, since servers refuse arguments that are no JSON, and the model is
 * corrected. An answer that has neither a call to play nor a text is left out: servers refuse it as empty.
 *
 * @param plays - how many calls are played.
 * @param speech - the tool that an answer without a call is, if there is one.
 * @param played - the action of an earlier answer, as it was recorded.
 */
export function createTurn(answer: Answer, plays: 'all' | 'first', speech?: ToolInfo, played?: Action): Turn {
  const calls = answer.calls.map((call): ReadCall => ({ call, read: readCall(call) }))
  const words = answer.completion.text ?? ''
  if (played && calls.length === 0 && isDeepStrictEqual(Object.values(played.arguments), [words]))
    return turnOf([], answer.message, [], 'all', played)
  if (speech && calls.length === 0 && answer.finish !== MALFORMED_CALL && takes(speech, words))
    return turnOf([], answer.message, [], 'all', { tool: speech.name, arguments: { [speech.speech as string]: words } })
  return turnOf(calls, answer.message, correctionsOf(answer, calls, speech), plays)
}

/** Returns the turn of an action that is of no known answer, as if the model had chosen it. */
export function createExternalTurn(action: Action, number: number, speech: ToolInfo | undefined): Turn {
  const words = action.tool === speech?.name ? action.arguments[speech.speech as string] : null
  if (typeof words === 'string') return turnOf([], assistant(words), [], 'all', action)
  const call = callOf(action, number)
  return turnOf([{ call, read: action }], assistant(null, [call]), [], 'all')
}

/** Whether words are speech: those that are none are, where the schema of the tool takes an empty text. */
function takes({ speech, inputSchema }: ToolInfo, words: string): boolean {
  const schema = Object(inputSchema.properties)[speech as string] as JsonObject
  return words !== '' || (!schema.minLength && !schema.pattern)
}

/** @param spoken - words that are a move. The reply to them is a message of the user. */
function turnOf(
  calls: readonly ReadCall[],
  message: JsonObject,
  corrections: readonly string[],
  plays: 'all' | 'first',
  spoken?: Action,
): Turn {
  const readable = calls.filter(({ read }) => isAction(read))
  const played = plays === 'all' ? readable : readable.slice(0, 1)
  const actions = spoken ? [spoken] : played.map(({ read }) => read as Action)
  const replies: Pick<Observation, 'text' | 'attachments'>[] = []
  const replyTo = (each: ReadCall) => replies[played.indexOf(each)] ?? { text: NOT_PLAYED, attachments: undefined }
  let sent = message
  let started = 0
  return {
    recorded: calls.map((each) => ({ ...each.call, played: played.includes(each) })),
    next: () => (started < actions.length ? (actions[started++] as Action) : null),
    take(action, tools) {
      if (started === actions.length) return false
      const fits = (one: Action) => (started === 0 ? one.tool === action.tool : isRecordedAs(action, one, tools))
      const found = actions.findIndex((planned, i) => i >= started && fits(planned))
      const next = played[started]
      if (found < 0 && next) sent = withCall(sent, { ...callOf(action, 0), id: next.call.id })
      started = Math.max(started, found) + 1
      return true
    },
    reply(observation) {
      replies[started - 1] = observation
    },
    get messages() {
      const [said = { text: '', attachments: undefined }] = spoken ? replies : []
      const attachments = readable.flatMap((each) => replyTo(each).attachments ?? [])
      return [
        ...answerMessages(sent, new Set(readable.map(({ call }) => call.id))),
        ...(spoken ? [userMessage(said.text, said.attachments)] : []),
        ...readable.map((each) => ({ role: 'tool', tool_call_id: each.call.id, content: replyTo(each).text })),
        ...(attachments.length > 0 ? [userMessage('', attachments)] : []),
        ...(corrections.length > 0 ? [{ role: 'user' as const, content: corrections.join('\n') }] : []),
      ]
    },
    mistake: mistakeOf(calls),
  }
}

/** Returns an answer as it is sent back, without other calls than these; nothing if it is empty then. */
export function answerMessages({ tool_calls: made, ...message }: JsonObject, ids: ReadonlySet<string>): Message[] {
  const kept = Array.isArray(made) ? (made as unknown as ToolCall[]).filter(({ id }) => ids.has(id)) : []
  if (kept.length === 0 && toText(message.content).trim() === '') return []
  return [{ ...message, ...(kept.length > 0 && { tool_calls: kept }) } as Message]
}

/** Whether an action is how a line has another: without arguments that its tool does not have. */
function isRecordedAs({ tool, arguments: args }: Action, given: Action, tools: readonly ToolInfo[]): boolean {
  const known = { ...Object(tools.find(({ name }) => name === tool)?.inputSchema).properties, ...args }
  const declared = Object.entries(given.arguments).filter(([name]) => Object.hasOwn(known, name))
  return given.tool === tool && isDeepStrictEqual(Object.fromEntries(declared), args)
}

/** Returns an answer with a call in place of the one that has its id. Its tokens are no longer those of the model. */
function withCall(message: JsonObject, { id, ...called }: ToolCall): JsonObject {
  const calls = message.tool_calls as unknown as readonly { readonly id: string; readonly function: JsonObject }[]
  const changed = calls.map((call) => (call.id === id ? { ...call, function: { ...call.function, ...called } } : call))
  return withoutTokens({ ...message, tool_calls: changed })
}

function correctionsOf({ finish, malformed }: Answer, calls: readonly ReadCall[], speech?: ToolInfo): string[] {
  if (calls.length > 0)
    return calls.flatMap(({ call, read }) =>
      isAction(read) ? [] : [`Your arguments for ${shorten(call.name, 64)} ${read}. Call the tool again.`],
    )
  const said = malformed === undefined ? '' : ` (${shorten(cleanText(malformed), 300)})`
  if (finish === MALFORMED_CALL) return [`Your call of a tool could not be read${said}. Call one of the tools again.`]
  if (finish === 'length')
    return ['Your answer was cut off before it called a tool. Call one of the tools, and say less.']
  return [speech ? 'Your answer has no words. Say something.' : 'You called no tool. Call one of the tools.']
}

function mistakeOf([first]: readonly ReadCall[]): Turn['mistake'] {
  const words = first ? `arguments for ${shorten(first.call.name, 64)} that ${first.read}` : 'no call of a tool'
  return { words, hasCall: first !== undefined }
}
