import { type Action, canonicalJson, type JsonObject } from '@episodic/protocol'

/** An item of a model's `output`. */
type OutputItem = Readonly<Record<string, unknown>>

/** A call of a tool in a model's answer. */
export interface FunctionCall {
  readonly callId: string
  readonly tool: string
  /** `null` if the model wrote something else than a JSON object. */
  readonly arguments: JsonObject | null
}

/** Returns the calls of tools in a model's answer, in order. */
export function functionCallsOf(output: readonly OutputItem[]): FunctionCall[] {
  return output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id, name, arguments: args }) => ({
      callId: String(call_id ?? ''),
      tool: String(name ?? ''),
      arguments: parseArguments(args),
    }))
}

/**
 * Returns whether the calls of a whole answer are the steps that were played: each call once, in order. Calls after the
 * end of an episode are not played, and neither are those whose arguments are no object.
 */
export function isPlayedOnce(calls: readonly FunctionCall[], played: readonly Action[], ended: boolean): boolean {
  const sent = calls.filter((call) => call.arguments !== null)
  if (sent.length < played.length || (sent.length > played.length && !ended)) return false
  return played.every(({ tool, arguments: args }, i) => {
    const call = sent[i]
    return call?.tool === tool && canonicalJson(call.arguments ?? {}) === canonicalJson(args)
  })
}

function parseArguments(text: unknown): JsonObject | null {
  // A model may leave the arguments of a tool without parameters empty.
  if (text === '' || text === null || text === undefined) return {}
  try {
    const parsed: unknown = JSON.parse(String(text))
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as JsonObject) : null
  } catch {
    return null
  }
}
