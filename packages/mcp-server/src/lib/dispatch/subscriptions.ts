import { type JsonObject, WireError } from '@episodic/protocol'
import { z } from 'zod'
import type { Caller } from '../host/caller.ts'
import type { Host, Look } from '../host/host.ts'
import type { Correspondence } from './client-channel.ts'
import type { RequestId } from './pending-call.ts'
import { lookAtUri, uriIn } from './state-resource.ts'

type AgentCaller = Caller & { readonly endpoint: 'agent' }

/** Answers `resources/subscribe`, with which a client of the era before 2026 asks to be told of changes of a resource. */
export async function subscribe(
  host: Host,
  caller: AgentCaller,
  correspondence: () => Correspondence,
  params: JsonObject,
): Promise<object> {
  const uri = uriIn(params)
  const look = await lookAtUri(host, caller, uri)
  correspondence().listen(keyOf(uri), { changes: [{ look, text: updated(caller, look, { uri }) }], farewell: null })
  return {}
}

/** Answers `resources/unsubscribe`: there is nothing wrong with ending what never began. */
export function unsubscribe(correspondence: () => Correspondence, params: JsonObject): object {
  correspondence().unlisten(keyOf(uriIn(params)))
  return {}
}

/** What is said to whoever listens, and how. */
interface ListenChannel {
  readonly correspondence: () => Correspondence
  readonly say: (text: string) => void
  /** Makes a whole result of what is in one. */
  readonly completed: (result: JsonObject) => JsonObject
}

/**
 * Begins what a client of MCP 2026-07-28 asks for with `subscriptions/listen`: says first what of it there is, and tells of
 * changes from then on. Gives the result with which it ends where there is nothing to listen to, and `null` otherwise.
 * Throws `invalid-params`, and `capacity`.
 */
export async function listen(
  host: Host,
  caller: AgentCaller,
  { id, params }: { readonly id: RequestId; readonly params: JsonObject },
  channel: ListenChannel,
): Promise<JsonObject | null> {
  const parsed = filterSchema.safeParse(params.notifications)
  if (!parsed.success)
    throw new WireError('invalid-params', 'Say what to listen to: notifications has to be a filter of MCP 2026-07-28.')
  const uris = [...new Set(parsed.data.resourceSubscriptions)]
  const _meta = { [SUBSCRIPTION_ID]: id }
  const changes: { uri: string; look: Look; text: string }[] = []
  for (const uri of uris) {
    const look = await lookIfThere(host, caller, uri)
    if (look) changes.push({ uri, look, text: updated(caller, look, { uri, _meta }) })
  }
  const correspondence = channel.correspondence()
  const result = channel.completed({ _meta })
  const farewell = JSON.stringify({ jsonrpc: '2.0', id, result })
  // Before anything is said of it, because it may be too much.
  correspondence.listen(id, { changes, farewell })
  // None of the lists changes, so of those nobody is told.
  const honoured: JsonObject = changes.length > 0 ? { resourceSubscriptions: changes.map(({ uri }) => uri) } : {}
  channel.say(notice('notifications/subscriptions/acknowledged', { notifications: honoured, _meta }))
  if (changes.length > 0) return null
  correspondence.unlisten(id)
  return result
}

const filterSchema = z.looseObject({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).max(256).default([]),
})

/** Where everything that belongs to a subscription says so. */
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

/** A resource that is not there is left out of what is listened to. */
async function lookIfThere(host: Host, caller: AgentCaller, uri: string): Promise<Look | null> {
  try {
    return await lookAtUri(host, caller, uri)
  } catch (error) {
    if (WireError.is(error, 'invalid-params')) return null
    throw error
  }
}

/** How a change is told, looked through once for all: it is the same each time. */
function updated(caller: AgentCaller, { secrets }: Look, params: JsonObject): string {
  const text = notice('notifications/resources/updated', params)
  secrets.assertAbsent({ text, worldText: null, callerText: () => JSON.stringify([params, caller.world]) })
  return text
}

function notice(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

function keyOf(uri: string): string {
  return `resource ${uri}`
}
