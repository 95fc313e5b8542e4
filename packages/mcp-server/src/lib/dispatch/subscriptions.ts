import { type JsonObject, WireError } from '@episodic/protocol'
import { invalidParams } from '@episodic/protocol/internal'
import { z } from 'zod'
import type { AgentCaller } from '../host/access/caller.ts'
import type { SessionRef, StateView, ToolsView } from '../host/host.ts'
import type { ClientChannel } from './client-channel.ts'
import type { AgentAsker, RequestId } from './message.ts'
import { uriIn, viewUri } from './state-resource.ts'

export async function subscribe(asker: AgentAsker, channel: () => ClientChannel, params: JsonObject): Promise<object> {
  const uri = uriIn(params)
  const view = await viewUri(asker, uri)
  const text = updated(asker.caller, view, { uri })
  channel().listen(toResourceKey(uri), { changes: [{ view, text }], farewell: null })
  return {}
}

/** Answers `resources/unsubscribe`. Without a subscription it does nothing. */
export function unsubscribe(channel: () => ClientChannel, params: JsonObject): object {
  channel().unlisten(toResourceKey(uriIn(params)))
  return {}
}

/**
 * Notifies a client of a version before 2026-07-28 when its tools change: it listens by listing them, or by a call, if
 * that has opened its session. Does nothing for a client that is notified already, or listens to too much.
 */
export async function followTools(session: SessionRef, channel: ClientChannel, isCall: boolean): Promise<void> {
  if (channel.listens(TOOLS_CHANGED)) return
  const view = await session.tools()
  const text = notice(TOOLS_CHANGED, {})
  try {
    if (view) channel.listen(TOOLS_CHANGED, { changes: [{ view, text }], farewell: null })
  } catch (error) {
    if (WireError.is(error, 'capacity')) return
    throw error
  }
  // The call may have changed what the client has listed.
  if (view && isCall) channel.say(text)
}

const TOOLS_CHANGED = 'notifications/tools/list_changed'

interface ListenChannel {
  readonly channel: () => ClientChannel
  readonly say: (text: string) => void
  readonly completed: (result: JsonObject) => JsonObject
}

/**
 * Answers `subscriptions/listen` of MCP 2026-07-28: first acknowledges the subscriptions that are possible, then sends
 * a notification for each change. Resolves with the final result if there is nothing to subscribe to, otherwise with
 * `null`. Rejects with `invalid-params` and `capacity`.
 */
export async function listen(
  asker: AgentAsker,
  { id, params }: { readonly id: RequestId; readonly params: JsonObject },
  { channel: open, say, completed }: ListenChannel,
): Promise<JsonObject | null> {
  const parsed = filterSchema.safeParse(params.notifications)
  if (!parsed.success) throw invalidParams('Say what to listen to: notifications has to be a filter of MCP 2026-07-28.')
  const uris = [...new Set(parsed.data.resourceSubscriptions)]
  const _meta = { [SUBSCRIPTION_ID]: id }
  const changes: { uri?: string; view: ToolsView; text: string }[] = []
  for (const uri of uris) {
    const view = await viewIfThere(asker, uri)
    if (view) changes.push({ uri, view, text: updated(asker.caller, view, { uri, _meta }) })
  }
  const honoured: JsonObject =
    changes.length > 0 ? { resourceSubscriptions: changes.map(({ uri }) => uri as string) } : {}
  const tools = parsed.data.toolsListChanged ? await asker.session?.tools() : null
  if (tools) changes.push({ view: tools, text: notice(TOOLS_CHANGED, { _meta }) })
  const channel = open()
  const result = completed({ _meta })
  const farewell = JSON.stringify({ jsonrpc: '2.0', id, result })
  // Before the acknowledgement, because it may throw `capacity`.
  channel.listen(id, { changes, farewell })
  // Other lists never change, so subscriptions to them are not acknowledged.
  const notifications = tools ? { ...honoured, toolsListChanged: true } : honoured
  say(notice('notifications/subscriptions/acknowledged', { notifications, _meta }))
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

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

/** Returns `null` for a resource that does not exist: the subscription is made without it. */
async function viewIfThere(asker: AgentAsker, uri: string): Promise<StateView | null> {
  try {
    return await viewUri(asker, uri)
  } catch (error) {
    if (WireError.is(error, 'invalid-params')) return null
    throw error
  }
}

/** Returns the notification of a change. It is always the same text, so it is scanned for secrets only once. */
function updated(caller: AgentCaller, { secrets }: StateView, params: JsonObject): string {
  const text = notice('notifications/resources/updated', params)
  secrets.assertAbsent({ text, worldText: null, callerText: () => JSON.stringify([params, caller.address]) })
  return text
}

function notice(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

function toResourceKey(uri: string): string {
  return `resource ${uri}`
}
