import { type Action, findNonJson } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { ToolCall } from './transcript.ts'

export function readCall(call: Pick<ToolCall, 'name' | 'arguments'>): Action | string {
  try {
    // Only -0, which is no number of JSON, is 0.
    const args: unknown = JSON.parse(plainArguments(call.arguments), (_, value) => (value === 0 ? 0 : value))
    if (!isObject(args)) return 'are no JSON object'
    const problem = findNonJson(args)
    if (problem) return `cannot be sent (${problem})`
    return { tool: call.name, arguments: args }
  } catch {
    return 'are no JSON object'
  }
}

/** Returns the arguments of a call, and `{}` for every way in which models and servers write that there are none. */
export function plainArguments(written: string): string {
  return NONE.has(written.trim()) ? '{}' : written
}

/** Of Python, and of PHP, whose empty object is a list. */
const NONE: ReadonlySet<string> = new Set(['', 'null', 'undefined', 'None', '""', '[]', '{}'])

export function isAction(read: Action | string | undefined): read is Action {
  return typeof read === 'object'
}
