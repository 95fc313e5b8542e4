import { type JsonObject, WireError } from '@episodic/protocol'
import { z } from 'zod'
import type { AgentCaller } from '../host/caller.ts'
import type { Host, SessionRef, StateView } from '../host/host.ts'
import type { ClientChannel } from './client-channel.ts'
import type { RequestId } from './pending-call.ts'
import { uriIn, viewUri } from './state-resource.ts'

/** Answers `resources/subscribe`, with which a client of the era before 2026 asks to be told of changes of a resource. */
export async function subscribe(
  host: Host,
  caller: AgentCaller,
  session: SessionRef | null,
  channel: () => ClientChannel,
  params: JsonObject,
): Promise<object> {
  const uri = uriIn(params)
  const view = await viewUri(host, caller, session, uri)
  channel().listen(keyOf(uri), { changes: [{ view, text: updated(caller, view, { uri }) }], farewell: null })
  return {}
}

/** Answers `resources/unsubscribe`: there is nothing wrong with ending what never began. */
export function unsubscribe(channel: () => ClientChannel, params: JsonObject): object {
  channel().unlisten(keyOf(uriIn(params)))
  return {}
}

/** What is said to whoever listens, and how. */
interface ListenChannel {
  readonly channel: () => ClientChannel
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
  session: SessionRef | null,
  { id, params }: { readonly id: RequestId; readonly params: JsonObject },
  { channel: open, say, completed }: ListenChannel,
): Promise<JsonObject | null> {
  const parsed = filterSchema.safeParse(params.notifications)
  if (!parsed.success)
    throw new WireError('invalid-params', 'Say what to listen to: notifications has to be a filter of MCP 2026-07-28.')
  const uris = [...new Set(parsed.data.resourceSubscriptions)]
  const _meta = { [SUBSCRIPTION_ID]: id }
  const changes: { uri: string; view: StateView; text: string }[] = []
  for (const uri of uris) {
    const view = await viewIfThere(host, caller, session, uri)
    if (view) changes.push({ uri, view, text: updated(caller, view, { uri, _meta }) })
  }
  const channel = open()
  const result = completed({ _meta })
  const farewell = JSON.stringify({ jsonrpc: '2.0', id, result })
  // Before anything is said of it, because it may be too much.
  channel.listen(id, { changes, farewell })
  // None of the lists changes, so of those nobody is told.
  const honoured: JsonObject = changes.length > 0 ? { resourceSubscriptions: changes.map(({ uri }) => uri) } : {}
  say(notice('notifications/subscriptions/acknowledged', { notifications: honoured, _meta }))
  if (changes.length > 0) return null
  channel.unlisten(id)
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
async function viewIfThere(
  host: Host,
  caller: AgentCaller,
  session: SessionRef | null,
  uri: string,
): Promise<StateView | null> {
  try {
    return await viewUri(host, caller, session, uri)
  } catch (error) {
    if (WireError.is(error, 'invalid-params')) return null
    throw error
  }
}

/** How a change is told, looked through once for all: it is the same each time. */
function updated(caller: AgentCaller, { secrets }: StateView, params: JsonObject): string {
  const text = notice('notifications/resources/updated', params)
  secrets.assertAbsent({ text, worldText: null, callerText: () => JSON.stringify([params, caller.address]) })
  return text
}

function notice(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

function keyOf(uri: string): string {
  return `resource ${uri}`
}
