import { type JsonObject, WireError } from '@episodic/protocol'
import { invalidParams } from '@episodic/protocol/internal'
import { handleNames } from '../environment/definition/define-environment.ts'
import type { Principal } from '../host/access/caller.ts'
import type { Host, StateView } from '../host/host.ts'
import { handledEnvironment } from './agent-call.ts'
import type { ScannedAnswer } from './leak-scan.ts'
import type { AgentAsker } from './message.ts'

export const STATE_URI = 'episodic://session/state'

/** The URI template for callers that name their session in arguments: the name is part of the URI. */
export function stateTemplate(noun: string): string {
  return `episodic://session/{${handleNames(noun).argument}}/state`
}

const STATE = {
  name: 'state',
  title: 'State of the session',
  description: 'What a player may see of the session, as JSON. It can be subscribed to.',
  mimeType: 'application/json',
}

export function listResources(uri: string) {
  return isTemplate(uri) ? [] : [{ uri, ...STATE }]
}

export function listTemplates(uri: string) {
  return isTemplate(uri) ? [{ uriTemplate: uri, ...STATE }] : []
}

function isTemplate(uri: string): boolean {
  return uri.includes('{')
}

/**
 * Returns the public state of the session that a URI names. Throws `invalid-params` for a URI that names none of this
 * caller, whatever the reason, and `session-not-found` if the session of the caller's own address is gone.
 */
export async function viewUri({ host, caller, session }: AgentAsker, uri: string): Promise<StateView> {
  const { principal, address } = caller
  if (address.by === 'argument')
    return viewArgument(host, principal, handledEnvironment(host, address.environment), uri)
  if (uri !== STATE_URI) throw noResource(`The only one is ${STATE_URI}.`)
  return (session ?? (await host.resolve(principal, address))).view()
}

export async function readResource(asker: AgentAsker, params: JsonObject): Promise<ScannedAnswer> {
  const uri = uriIn(params)
  const { state, secrets } = await viewUri(asker, uri)
  const text = JSON.stringify(state)
  return { result: { contents: [{ uri, mimeType: STATE.mimeType, text }] }, secrets, worldText: () => text }
}

export function uriIn({ uri }: JsonObject): string {
  if (typeof uri === 'string') return uri
  throw invalidParams('The uri of a resource is a string.')
}

async function viewArgument(
  host: Host,
  principal: Principal,
  { name: environment, handle }: { readonly name: string; readonly handle: string },
  uri: string,
): Promise<StateView> {
  const token = /^episodic:\/\/session\/([\w.-]+)\/state$/.exec(uri)?.[1]
  try {
    if (token !== undefined) return await (await host.resolve(principal, { by: 'argument', token, environment })).view()
  } catch (error) {
    if (!WireError.is(error, 'session-not-found')) throw error
  }
  throw noResource(`There is ${stateTemplate(handle)}, with a name that ${handleNames(handle).create} answered with.`)
}

function noResource(hint: string): WireError {
  return invalidParams(`There is no resource of this uri. ${hint}`)
}
