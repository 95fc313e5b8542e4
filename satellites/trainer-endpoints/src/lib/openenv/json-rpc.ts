import { parseAccepted } from '@episodic/mcp-server/http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { InternalError } from '../http/problem.ts'
import { toolCall } from './action.ts'
import { rpcError } from './errors.ts'
import { toolCallResult, toolsOf } from './observation.ts'
import type { OpenEnvSession, SessionSetting } from './session.ts'
import type { OpenEnvSessions } from './sessions.ts'

export interface RpcContext {
  readonly setting: SessionSetting
  readonly sessions: OpenEnvSessions
  /** The session of the WebSocket that it came over; `null` over HTTP, where messages name theirs. */
  readonly session: OpenEnvSession | null
  readonly sessionId?: string | null
  readonly onError: (error: InternalError) => void
}

/** Answers a JSON-RPC message of OpenEnv's MCP: tools, and over HTTP the sessions to call them in. Never rejects. */
export async function answerRpc(text: string, context: RpcContext): Promise<object> {
  let message: unknown
  try {
    message = parseAccepted(text, 'message')
  } catch (error) {
    return rpcError(error, null, context.onError)
  }
  return answerRpcMessage(message, context)
}

export async function answerRpcMessage(message: unknown, context: RpcContext): Promise<object> {
  const id = isObject(message) && isId(message.id) ? message.id : null
  try {
    const { method, params } = parseMessage(message)
    return { jsonrpc: '2.0', id, result: await answerMethod(method, params, context) }
  } catch (error) {
    return rpcError(error, id, context.onError)
  }
}

async function answerMethod(method: string, params: JsonObject, context: RpcContext): Promise<object> {
  const { setting, sessions, session, sessionId } = context
  switch (method) {
    case 'openenv/session/create':
      if (!session) return { session_id: sessions.create(setting) }
      if (sessionId) return { session_id: sessionId }
      throw new WireError('invalid-request', 'The session of this WebSocket is its own, and has no id.')
    case 'openenv/session/close':
      return closeSession(params.session_id, context)
    case 'tools/list': {
      const listed = session ?? (params.session_id ? sessions.use(params.session_id, setting) : null)
      return { tools: toolsOf(listed ? await listed.info() : setting.info) }
    }
    case 'tools/call': {
      const action = toolCall(params.name, params.arguments ?? {})
      const play = async (played: OpenEnvSession) =>
        toolCallResult(action.tool, await played.step(action, { opens: true }))
      if (session) return play(session)
      return params.session_id ? play(sessions.use(params.session_id, setting)) : sessions.once(setting, play)
    }
    default:
      throw new WireError('method-not-found', `There is no method ${JSON.stringify(method)} here.`)
  }
}

async function closeSession(id: unknown, { sessions, setting, sessionId }: RpcContext): Promise<object> {
  if (!id) throw new WireError('invalid-params', 'The parameter session_id is missing.')
  if (id === sessionId) throw new WireError('invalid-request', 'A WebSocket closes its session by closing itself.')
  const closing = await sessions.end(id, setting)
  return closing === 'closed' ? { session_id: id, closed: true } : { session_id: id, closed: false, closing: true }
}

function parseMessage(message: unknown): { readonly method: string; readonly params: JsonObject } {
  if (!isObject(message) || message.jsonrpc !== '2.0' || typeof message.method !== 'string')
    throw new WireError('invalid-request', 'This is no JSON-RPC 2.0 request: it needs "jsonrpc": "2.0" and a method.')
  const { method, params = {} } = message
  if (!isObject(params)) throw new WireError('invalid-params', 'The parameters of a method are an object.')
  return { method, params: params as JsonObject }
}

function isId(id: unknown): boolean {
  return typeof id === 'string' || Number.isSafeInteger(id)
}
