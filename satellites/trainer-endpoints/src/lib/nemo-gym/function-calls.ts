import { parseAccepted } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

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
