import { type JsonObject, WireError } from '@episodic/protocol'
import { handleNames } from '../environment/define-environment.ts'
import type { Caller } from '../host/caller.ts'
import type { Host, Look } from '../host/host.ts'
import { handledEnvironment } from './agent-call.ts'
import type { Answer } from './leak-scan.ts'

/** The public state of the session that a caller plays. */
export const STATE_URI = 'episodic://session/state'

/** The same for callers who name their session themselves: how its URI is made of the name. */
export function stateTemplate(noun: string): string {
  return `episodic://session/{${handleNames(noun).argument}}/state`
}

const STATE = {
  name: 'state',
  title: 'How things stand',
  description: 'What a player may see of the session, as JSON. It can be subscribed to.',
  mimeType: 'application/json',
}

/** The resources as they are listed, in either era, where the state is at that URI. */
export function listResources(uri: string) {
  return isTemplate(uri) ? [] : [{ uri, ...STATE }]
}

/** The templates of resources as they are listed, in either era. */
export function listTemplates(uri: string) {
  return isTemplate(uri) ? [{ uriTemplate: uri, ...STATE }] : []
}

function isTemplate(uri: string): boolean {
  return uri.includes('{')
}

/**
 * How the session stands that a URI names. Throws `invalid-params` for a URI that names none of this caller, whatever
 * the reason, and `session-not-found` where the caller itself plays none any more.
 */
export async function lookAtUri(
  host: Host,
  { principal, world }: Caller & { endpoint: 'agent' },
  uri: string,
): Promise<Look> {
  if (world.by === 'handle') return lookByHandle(host, principal, handledEnvironment(host, world.environment), uri)
  if (uri !== STATE_URI) throw noResource(`The only one is ${STATE_URI}.`)
  if (world.by === 'capability') return host.look(world.capability)
  if (world.transportId === null)
    throw new WireError('invalid-request', 'Send the Mcp-Session-Id that initialize answered with.')
  return host.lookAt(principal, world.transportId, world.environment)
}

/** Answers `resources/read` at the agent endpoint. */
export async function readResource(
  host: Host,
  caller: Caller & { endpoint: 'agent' },
  params: JsonObject,
): Promise<Answer> {
  const uri = uriIn(params)
  const { state, secrets } = await lookAtUri(host, caller, uri)
  const text = JSON.stringify(state)
  return { result: { contents: [{ uri, mimeType: STATE.mimeType, text }] }, secrets, told: () => text }
}

/** Throws `invalid-params` for parameters that name no resource. */
export function uriIn({ uri }: JsonObject): string {
  if (typeof uri === 'string') return uri
  throw new WireError('invalid-params', 'The uri of a resource is a string.')
}

async function lookByHandle(
  host: Host,
  principal: Caller['principal'],
  { name, handle }: { readonly name: string; readonly handle: string },
  uri: string,
): Promise<Look> {
  const id = /^episodic:\/\/session\/([\w.-]+)\/state$/.exec(uri)?.[1]
  try {
    if (id !== undefined) return await host.lookAt(principal, id, name)
  } catch (error) {
    if (!WireError.is(error, 'session-not-found')) throw error
  }
  throw noResource(`There is ${stateTemplate(handle)}, with a name that ${handleNames(handle).create} answered with.`)
}

function noResource(hint: string): WireError {
  return new WireError('invalid-params', `There is no resource of this uri. ${hint}`)
}
