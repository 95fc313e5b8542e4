import type { ServerResponse } from 'node:http'
import { isObject } from '@episodic/protocol/extend'
import type { Principal } from '../host/host.ts'
import { randomText } from '../host/session-tokens.ts'
import type { Admitted, Mount } from '../http/custom-handler.ts'
import { MountSession, type Posted } from './mount-session.ts'
import { answerAsWeb } from './web-request.ts'

/** A server object of the MCP SDK of the era that has sessions. */
export interface MountableServer {
  connect(transport: MountSession): Promise<void>
  close(): Promise<void>
}

export interface MountOptions {
  /** Makes the server of one session. */
  readonly legacy: () => MountableServer
  /** Answers one request of the modern era, as the `fetch` of the SDK's handler does. */
  readonly modern: (request: Request, options: { readonly parsedBody: unknown }) => Promise<Response>
  /** Sessions at once. Default 1,000; one more is answered with 503. */
  readonly sessions?: number
}

interface Session {
  readonly principal: Principal
  readonly transport: MountSession
  readonly server: MountableServer
}

/**
 * Mounts any MCP server behind the guards: sessions, prompts, resources, and whatever it asks of its clients.
 *
 * An answer is JSON, and a stream of events where something has to be told before it. There is no stream besides.
 */
export function mountServer({ legacy, modern, sessions: most = 1_000 }: MountOptions): Mount {
  const sessions = new Map<string, Session>()

  async function begin(principal: Principal, message: Posted, response: ServerResponse): Promise<void> {
    if (sessions.size >= most) return refuse(response, 503, 'There are too many sessions. Try again later.')
    const sessionId = randomText()
    const session = { principal, transport: new MountSession(sessionId), server: legacy() }
    // Before it is connected, so that as many come as there is room for.
    sessions.set(sessionId, session)
    await session.server.connect(session.transport)
    response.setHeader('Mcp-Session-Id', sessionId)
    session.transport.receive(message, response)
  }

  async function end(session: Session): Promise<void> {
    sessions.delete(session.transport.sessionId)
    await session.server.close()
  }

  return {
    async answer(request, response, { caller, message, modern: isModern }: Admitted) {
      if (isModern) return answerAsWeb(request, response, (asked) => modern(asked, { parsedBody: message }))
      const { method, headers } = request
      if (method === 'GET') return refuse(response, 405, 'There is nothing to push here.')
      if (method === 'POST' && !isPosted(message))
        return refuse(response, 400, 'This is not a message of JSON-RPC.', -32600)
      if (method === 'POST' && (message as Posted).method === 'initialize')
        return begin(caller.principal, message as Posted, response)
      const sessionId = headers['mcp-session-id']
      if (typeof sessionId !== 'string')
        return refuse(response, 400, 'Send the Mcp-Session-Id that initialize answered with.')
      const session = sessions.get(sessionId)
      if (session?.principal !== caller.principal) return refuse(response, 404, 'There is no such session.', -32001)
      if (method === 'POST') {
        if (session.transport.isWaiting(message as Posted))
          return refuse(response, 400, 'A request of this id waits for its answer.', -32600)
        return session.transport.receive(message as Posted, response)
      }
      await end(session)
      response.writeHead(204).end()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...sessions.values()].map(end))
    },
  }
}

function isPosted(message: unknown): message is Posted {
  if (!isObject(message) || message.jsonrpc !== '2.0') return false
  const { id, method } = message
  const named = typeof id === 'string' || typeof id === 'number'
  return typeof method === 'string' ? named || id === undefined : named && ('result' in message || 'error' in message)
}

function refuse(response: ServerResponse, status: number, message: string, code = -32000): void {
  response
    .writeHead(status, { 'Content-Type': 'application/json', ...(status === 503 && { 'Retry-After': '1' }) })
    .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }))
}
