import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  type ClientIdentity,
  type ExtraRoutes,
  FrameSocket,
  rejectUpgrade,
  WebSockets,
} from '@episodic/mcp-server/http'
import type { EnvironmentInfo } from '@episodic/protocol'
import type { WebSocket } from 'ws'
import type { InternalError, Problem } from '../http/problem.ts'
import { UNAUTHENTICATED } from '../http/trainer-app.ts'
import { parseAddress } from './address.ts'
import { errorFrame, rpcError } from './errors.ts'
import { answerFrame } from './frames.ts'
import { answerRpc } from './json-rpc.ts'
import type { OpenEnvSession, SessionSetting } from './session.ts'
import type { OpenEnvSessions } from './sessions.ts'

/** Answers one frame: with a text, or with `null` to close the connection. */
type AnswerFrame = (text: string) => Promise<string | null>

export interface OpenEnvSocketsOptions {
  readonly sessions: OpenEnvSessions
  readonly find: (environment: string) => EnvironmentInfo | undefined
  readonly settingOf: (info: EnvironmentInfo, principal: string | null) => SessionSetting
  readonly frameBytes: number
  readonly onError: (error: InternalError) => void
}

/**
 * The WebSockets of an environment: `/ws` with the frames of OpenEnv, and `/mcp` with JSON-RPC. Each has a session of
 * its own, unless `/ws?session_id=` attaches to one.
 */
export function createOpenEnvSockets(options: OpenEnvSocketsOptions) {
  const sockets = new WebSockets(options.frameBytes)
  return {
    upgrade(request: IncomingMessage, stream: Duplex, head: Buffer, client: ClientIdentity): void {
      // Without a slash more at its start, which would begin a host.
      const { pathname, searchParams } = new URL((request.url ?? '').replace(/^\/+/, '/'), 'http://localhost')
      const address = parseAddress(pathname)
      const info = address ? options.find(address.environment) : undefined
      const problem = client.trainer ? problemOf(info, address?.route) : UNAUTHENTICATED
      if (problem || !info) {
        const { status, code, message } = problem ?? NO_SOCKET
        rejectUpgrade(stream, status, { detail: message, code })
        return
      }
      const setting = options.settingOf(info, client.principal)
      const sessionId = address?.route === '/ws' ? searchParams.get('session_id') || null : null
      sockets.upgrade(request, stream, head, (webSocket) => {
        const answer = enter(webSocket, address?.route === '/mcp', setting, sessionId)
        return answer && new FrameSocket(webSocket, stream, client, { answer })
      })
    },
    drain(signal: AbortSignal | undefined): Promise<number> {
      return sockets.drain(signal)
    },
    end(): void {
      sockets.end()
    },
  } satisfies Pick<ExtraRoutes, 'upgrade' | 'drain' | 'end'>

  function problemOf(info: EnvironmentInfo | undefined, route: string | undefined): Problem | null {
    if (!info || (route !== '/ws' && route !== '/mcp')) return NO_SOCKET
    return sockets.draining ? STOPPING : null
  }

  /** Returns what answers the frames of a socket, or sends why it has no session, and closes it. */
  function enter(
    webSocket: WebSocket,
    jsonRpc: boolean,
    setting: SessionSetting,
    sessionId: string | null,
  ): AnswerFrame | null {
    const { sessions, onError } = options
    let session: OpenEnvSession
    try {
      session = sessionId === null ? sessions.open(setting) : sessions.attach(sessionId, setting)
    } catch (error) {
      const refusal = jsonRpc
        ? rpcError(error, null, onError)
        : errorFrame(error, onError, sessionId === null ? undefined : 'SESSION_ERROR')
      webSocket.send(JSON.stringify(refusal))
      webSocket.close(1000)
      return null
    }
    let left: Promise<void> | null = null
    const leave = () => {
      left ??= sessionId === null ? sessions.close(session) : sessions.detach(sessionId)
      return left
    }
    webSocket.once('close', () => void leave())
    const context = { setting, sessions, session, sessionId, onError }
    if (jsonRpc) return async (text) => JSON.stringify(await answerRpc(text, context))
    return async (text) => {
      const answer = await answerFrame(text, context)
      if (answer) return JSON.stringify(answer)
      // Before the connection is closed: its client may name the session over HTTP right after that.
      await leave()
      return null
    }
  }
}

const NO_SOCKET: Problem = { status: 404, code: 'not-found', message: 'There is no WebSocket at this path.' }
const STOPPING: Problem = {
  status: 503,
  code: 'unavailable',
  message: 'This server is stopping and takes nobody in. Try again.',
}
