import { type Action, type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

/** An action of OpenEnv: the call of a tool, or the wish to see the tools. */
export type OpenEnvAction = { readonly kind: 'call-tool'; readonly action: Action } | { readonly kind: 'list-tools' }

/** Reads an action. Throws `invalid-params`. */
export function parseAction(data: unknown): OpenEnvAction {
  if (!isObject(data)) throw new WireError('invalid-params', 'An action is an object.')
  const { type = 'call_tool', tool_name: tool, arguments: args = {} } = data as JsonObject
  if (type === 'list_tools') return { kind: 'list-tools' }
  if (type !== 'call_tool')
    throw new WireError('invalid-params', 'The type of an action is "call_tool" or "list_tools".')
  return { kind: 'call-tool', action: toolCall(tool, args) }
}

/** Returns the call of a tool. Throws `invalid-params` for a name that is no text, and arguments that are no object. */
export function toolCall(tool: unknown, args: unknown = {}): Action {
  if (typeof tool !== 'string' || tool === '')
    throw new WireError('invalid-params', 'A call of a tool names it: tool_name is missing or no text.')
  if (!isObject(args)) throw new WireError('invalid-params', 'The arguments of a tool are an object.')
  return { tool, arguments: args as JsonObject }
}
