import { type Action, findNonJson } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { ToolCall } from './transcript.ts'

/** Reads a call, or says what is wrong with it: a new one, too, if a whole number of it would lose its last digits. */
export function readCall(call: Pick<ToolCall, 'name' | 'arguments'>, isRecorded = false): Action | string {
  try {
    let lost = ''
    const read = (_: string, value: unknown, { source = '' }: { readonly source?: string } = {}) => {
      if (/^-?\d{16,300}$/.test(source) && BigInt(source) !== BigInt(value as number)) lost = source
      // Only -0, which is no number of JSON, is 0.
      return value === 0 ? 0 : value
    }
    const args: unknown = JSON.parse(plainArguments(call.arguments), read)
    if (!isObject(args)) return 'are no JSON object'
    const problem = findNonJson(args)
    if (problem) return `cannot be sent (${problem})`
    if (lost && !isRecorded) return `have ${lost}, whose last digits would be lost: give it as a text, or not at all`
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
