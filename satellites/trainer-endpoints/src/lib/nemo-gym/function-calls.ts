import { parseAccepted } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { Tools } from './same-call.ts'

type OutputItem = Readonly<Record<string, unknown>>

export interface FunctionCall {
  readonly callId: string
  readonly tool: string
  /** `null` if the model wrote something that cannot be played: no JSON object, or one that is out of bounds. */
  readonly arguments: JsonObject | null
  /** Whether the model wrote nothing, which some agents send as `{}` and others do not send. */
  readonly isEmpty: boolean
  /** What the model was shown as the output of the tool; `null` if the trajectory does not say. */
  readonly output: string | null
  /** Whether it is no call: words that are a move. */
  readonly isSpoken?: true
}

/** Returns the calls of tools in a model's answer, in order, each with the output that follows it under its id. */
export function functionCallsOf(items: readonly OutputItem[]): FunctionCall[] {
  const calls: { -readonly [Key in keyof FunctionCall]: FunctionCall[Key] }[] = []
  const open = new Map<string, typeof calls>()
  for (const { type, call_id, name, arguments: args, output } of items) {
    const callId = String(call_id ?? '')
    if (type === 'function_call') {
      const isEmpty = args === '' || args === null || args === undefined
      const call = { callId, tool: String(name ?? ''), arguments: parseArguments(args), isEmpty, output: null }
      calls.push(call)
      open.set(callId, [...(open.get(callId) ?? []), call])
    } else if (type === 'function_call_output') {
      const answered = open.get(callId)?.shift()
      if (answered && typeof output === 'string') answered.output = output
    }
  }
  return calls
}

/** Returns what a model said after its last call; empty for nothing. */
export function lastWordsOf(items: readonly OutputItem[]): string {
  const last = items.findLastIndex(({ type }) => type === 'function_call' || type === 'function_call_output')
  return items
    .slice(last + 1)
    .flatMap(({ type, content }) => (type === 'message' && Array.isArray(content) ? content : []))
    .flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('')
}

/** Returns words as the call that they are in a world in which words are a move; `null` in others, and for none. */
export function spokenCall(words: string, tools: Tools): (FunctionCall & { readonly arguments: JsonObject }) | null {
  const { name: tool, speech } = tools.find((each) => each.speech !== undefined) ?? {}
  if (tool === undefined || speech === undefined || words === '') return null
  return { callId: '', tool, arguments: { [speech]: words }, isEmpty: false, output: null, isSpoken: true }
}

function parseArguments(text: unknown): JsonObject | null {
  // A model may leave the arguments of a tool without parameters empty.
  if (text === '' || text === null || text === undefined) return {}
  try {
    const parsed = parseAccepted(String(text), 'arguments')
    return isObject(parsed) ? parsed : null
  } catch {
    return null
  }
}
