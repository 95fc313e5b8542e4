import { type Action, type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

export type OpenEnvAction = { readonly kind: 'call-tool'; readonly action: Action } | { readonly kind: 'list-tools' }

export function parseAction(data: unknown): OpenEnvAction {
  if (!isObject(data)) throw new WireError('invalid-params', 'An action is an object.')
  const { type = 'call_tool', tool_name: tool, arguments: args = {} } = data as JsonObject
  if (type === 'list_tools') return { kind: 'list-tools' }
  if (type !== 'call_tool')
    throw new WireError('invalid-params', 'The type of an action is "call_tool" or "list_tools".')
  return { kind: 'call-tool', action: toolCall(tool, args) }
}

export function toolCall(tool: unknown, args: unknown = {}): Action {
  if (typeof tool !== 'string' || tool === '')
    throw new WireError('invalid-params', 'A call of a tool names it: tool_name is missing or no text.')
  if (!isObject(args)) throw new WireError('invalid-params', 'The arguments of a tool are an object.')
  return { tool, arguments: args as JsonObject }
}
