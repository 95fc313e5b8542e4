import { type Action, findNonJson } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { ToolCall } from './transcript.ts'

/**
 * Returns the action of a call, or what is wrong with its arguments.
 *
 * Some servers leave marks of their own in a call: `functions.` before its name, `<|channel|>…` after it, or its
 * arguments encoded twice. They are taken off where a tool is then named, or an object is found.
 *
 * @param tools - the names of all tools.
 */
export function readCall(call: Pick<ToolCall, 'name' | 'arguments'>, tools: readonly string[]): Action | string {
  try {
    // Some models send an empty text for a tool without parameters.
    const read = parse(call.arguments === '' ? '{}' : call.arguments)
    const args = typeof read === 'string' ? parse(read) : read
    if (!isObject(args)) return 'are no JSON object'
    const problem = findNonJson(args)
    if (problem) return `cannot be sent (${problem})`
    return { tool: nameWithoutMarks(call.name, tools), arguments: args }
  } catch {
    return 'are no JSON object'
  }
}

/** Whether a call could be read. */
export function isAction(read: Action | string | undefined): read is Action {
  return typeof read === 'object'
}

/** Parses JSON. Only -0, which is no number of JSON, is 0. */
function parse(text: string): unknown {
  return JSON.parse(text, (_, value) => (value === 0 ? 0 : value))
}

function nameWithoutMarks(name: string, tools: readonly string[]): string {
  const plain = name.replace(/^functions[.:]/, '').replace(/<\|.*$/s, '')
  return tools.includes(name) || !tools.includes(plain) ? name : plain
}
