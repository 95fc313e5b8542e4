import { type JsonObject, WireError } from '@episodic/protocol'
import { actAsAgent } from './agent-requests.ts'
import type { Caller } from './caller.ts'
import type { Host } from './host.ts'
import { isNestedDeeper, MAX_NESTING } from './nesting.ts'
import { answerExtension, type RequestOptions, stepAsTrusted } from './trusted-requests.ts'

/**
 * Answers one request of one caller: the only way from any door to a session.
 *
 * Resolves with the result, or with `undefined` for a method that is not about sessions (discovery and negotiation,
 * which the MCP SDK answers). Rejects with a `WireError`, or with whatever else went wrong: the door says `internal`.
 */
export async function answerRequest(
  host: Host,
  caller: Caller,
  method: string,
  params: JsonObject,
  options: RequestOptions = {},
): Promise<unknown> {
  if (isNestedDeeper(params, MAX_NESTING))
    throw new WireError('invalid-params', `The parameters of ${method} are nested more than ${MAX_NESTING} deep.`)
  if (method === 'tools/call') {
    const call = { action: readAction(params) }
    return caller.door === 'agent'
      ? actAsAgent(host, caller, call)
      : stepAsTrusted(host, caller.principal, call, isObject(params._meta) ? params._meta : {})
  }
  return caller.door === 'trusted' ? answerExtension(host, caller, method, params, options) : undefined
}

function readAction(params: JsonObject): { tool: string; arguments: JsonObject } {
  const { name, arguments: args = {} } = params
  if (typeof name !== 'string') throw new WireError('invalid-params', 'tools/call needs the name of a tool.')
  if (!isObject(args)) throw new WireError('invalid-params', 'The arguments of tools/call have to be an object.')
  return { tool: name, arguments: args }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
