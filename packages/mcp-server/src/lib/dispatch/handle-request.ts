import { type JsonObject, META } from '@episodic/protocol'
import { invalidParams, isObject } from '@episodic/protocol/internal'
import type { Caller } from '../host/access/caller.ts'
import type { Host, SessionRef } from '../host/host.ts'
import { callAsAgent } from './agent-call.ts'
import type { ScannedAnswer } from './leak-scan.ts'
import type { Message } from './message.ts'
import { readResource } from './state-resource.ts'
import { answerExtension, type RequestOptions, stepAsTrainer } from './trainer-methods.ts'

/**
 * Answers one request of one caller: the only way from any endpoint to a session. `session` is the session of an
 * agent's address; see {@link resolveCaller}.
 *
 * Resolves with the answer, which the endpoint has yet to scan, or with `undefined` for a method that is not about
 * sessions (discovery and negotiation, which the MCP SDK answers). Throws, or rejects with, a `WireError`, or whatever
 * else failed, which the endpoint reports as `internal`.
 */
export function answerRequest(
  host: Host,
  caller: Caller,
  session: SessionRef | null,
  message: Message,
  options: RequestOptions = {},
): Promise<ScannedAnswer | undefined> {
  if (message.method !== 'tools/call') return answerOther(host, caller, session, message, options)
  const { params, meta } = message
  const { name: tool, arguments: args = {} } = params
  const seq = wholeNumber(meta, META.seq)
  const epoch = caller.endpoint === 'trainer' ? wholeNumber(meta, META.epoch) : undefined
  if (typeof tool !== 'string') throw invalidParams('tools/call needs the name of a tool.')
  if (!isObject(args)) throw invalidParams('The arguments of tools/call have to be an object.')
  const call = { action: { tool, arguments: args }, seq, epoch, waiting: options.waiting }
  if (caller.endpoint === 'trainer') return stepAsTrainer(host, caller.principal, call, meta ?? {})
  const asker = { host, caller, session }
  return callAsAgent(asker, call)
}

function wholeNumber(meta: JsonObject | null, key: string): number | undefined {
  const value = meta?.[key]
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)) return value as number | undefined
  throw invalidParams(`_meta["${key}"] is ${JSON.stringify(value)}, and has to be a whole number from 0 up.`)
}

async function answerOther(
  host: Host,
  caller: Caller,
  session: SessionRef | null,
  { method, params }: Message,
  options: RequestOptions,
): Promise<ScannedAnswer | undefined> {
  if (caller.endpoint === 'trainer') {
    const answering = answerExtension(host, caller, method, params, options)
    return answering && { result: await answering, secrets: null }
  }
  const asker = { host, caller, session }
  return method === 'resources/read' ? readResource(asker, params) : undefined
}

/** Resolves the session of an agent's address; `null` if its requests name theirs. Throws as `Host.resolve`. */
export function resolveCaller(host: Host, caller: Caller): SessionRef | null | Promise<SessionRef> {
  if (caller.endpoint === 'trainer') return null
  const { principal, address } = caller
  return address.by === 'argument' || address.token === null ? null : host.resolve(principal, address)
}

/** The same, once for the rate limit and the call. `null` also for an invalid token: the call is rejected later. */
export function findSession(host: Host, caller: Caller): SessionRef | null | Promise<SessionRef | null> {
  try {
    const session = resolveCaller(host, caller)
    return session instanceof Promise ? session.catch(() => null) : session
  } catch {
    return null
  }
}
