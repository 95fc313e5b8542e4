import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WireError } from '@episodic/protocol'
import type { WebSocket } from 'ws'
import { ClientChannel } from '../dispatch/client-channel.ts'
import type { Dispatcher, DispatchOptions, Reply } from '../dispatch/dispatcher.ts'
import { findSession } from '../dispatch/handle-request.ts'
import type { Message } from '../dispatch/message.ts'
import type { Caller } from '../host/access/caller.ts'
import type { SessionRef } from '../host/host.ts'
import { drained } from '../transport/drain.ts'
import { MessagePipe } from '../transport/message-pipe.ts'
import { type Authorizer, callerAt, denyUpgrade, tokenOf, tooManyCalls } from './authorize.ts'
import { keepPlace } from './connection-limits.ts'
import { type Denial, pathOf } from './host-origin-check.ts'
import { type OpenSocket, WebSockets } from './web-sockets.ts'

export interface WebSocketOptions {
  readonly dispatcher: Dispatcher
  readonly authorizer: Authorizer
  readonly messageBytes: number
  readonly onRejected: (caller: Pick<Caller, 'endpoint' | 'principal'> | null, code: string) => void
}

/** Messages of a trainer that are answered at the same time on one socket; an agent's are answered in turn. */
const IN_FLIGHT = 256
const AGENT_SOCKETS = 64
/** The subprotocols, in order of preference. MCP clients offer the second. */
const PROTOCOLS = ['episodic', 'mcp']

/**
 * The WebSocket endpoints of an HTTP server: `/env` for many sessions at once, `/mcp/s/<capability>` for one seat.
 *
 * A text frame is one JSON-RPC message, answered when its answer is ready. A client is authorized once, with the same
 * checks as for a call; a token that is no longer valid ends the socket within seconds. The reason of a close only
 * repeats the meaning of its code.
 */
export function createWebSocketEndpoints({ dispatcher, authorizer, messageBytes, onRejected }: WebSocketOptions) {
  const held = new Map<string, number>()
  const sockets = new WebSockets(messageBytes, PROTOCOLS)
  return {
    get calls(): number {
      return sockets.count
    },
    async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
      // If the client hangs up meanwhile, there is nobody to report the error to.
      socket.on('error', () => {})
      const source = authorizer.guards.checkSource(request)
      if (source) return deny(socket, null, source)
      const endpoint = authorizer.endpointOf(pathOf(request.url), request)
      if (endpoint && 'status' in endpoint) return deny(socket, null, endpoint)
      if (!endpoint || (endpoint.kind === 'agent' && endpoint.address.by !== 'capability'))
        return deny(socket, null, NO_ENDPOINT)
      const identify = () => authorizer.identify(endpoint.kind, tokenOf(request))
      const identity = await identify()
      const known = { endpoint: endpoint.kind, principal: 'status' in identity ? null : identity.principal }
      if ('status' in identity) return deny(socket, known, identity)
      if (identity.principal !== null) keepPlace(request.socket)
      const caller = callerAt(endpoint, identity)
      const { remoteAddress: address } = request.socket
      const session = await findSession(dispatcher.host, caller)
      const holder = caller.endpoint === 'agent' ? await authorizer.nameOf(caller, session, address) : null
      if (holder !== null && (held.get(holder) ?? 0) >= AGENT_SOCKETS) return deny(socket, known, TOO_MANY)
      if (sockets.draining) return deny(socket, known, LEAVING)
      sockets.upgrade(request, socket, head, (webSocket) => {
        if (holder !== null) hold(holder, webSocket)
        return connect(webSocket, socket, { caller, address, identify })
      })
    },
    drain(signal: AbortSignal | undefined): Promise<number> {
      return sockets.drain(signal)
    },
    end(): void {
      sockets.end()
    },
  }

  function hold(holder: string, webSocket: WebSocket): void {
    held.set(holder, (held.get(holder) ?? 0) + 1)
    webSocket.on('close', () => {
      const left = (held.get(holder) as number) - 1
      if (left > 0) held.set(holder, left)
      else held.delete(holder)
    })
  }

  function connect(webSocket: WebSocket, socket: Duplex, client: Client): OpenSocket {
    const gone = new AbortController()

    let leaving = false
    const pipe: MessagePipe = new MessagePipe({
      dispatcher,
      inFlight: client.caller.endpoint === 'trainer' ? IN_FLIGHT : 1,
      answer: (message) => answer(client, message, options),
      onRefused: (code) => onRejected(client.caller, code),
      write(answers) {
        // Send them in one write.
        socket.cork()
        for (const answer of answers) webSocket.send(answer)
        socket.uncork()
        return socket.writableNeedDrain ? drained(socket) : undefined
      },
    })
    const channel = new ClientChannel({ say: (text) => pipe.say(text) })
    const options: DispatchOptions = {
      signal: gone.signal,
      channel: () => channel,
      say: (text: string) => void pipe.say(text),
    }
    const open: OpenSocket = {
      get count() {
        return pipe.count
      },
      async checkClient() {
        const identity = await client.identify()
        return 'status' in identity && identity.status === 401 ? 'The token counts no longer.' : null
      },
      async finish() {
        leaving = true
        gone.abort()
        await pipe.finished()
        await channel.shutDown()
      },
    }
    webSocket.on('message', (data: Buffer, isBinary) => {
      if (leaving) return
      if (isBinary) return webSocket.close(1003, 'Send text.')
      pipe.receive(data.toString())
      if (pipe.ready || webSocket.isPaused) return
      webSocket.pause()
      pipe.caughtUp().then(() => webSocket.resume())
    })
    // `ws` closes the socket with the code for this error.
    webSocket.on('error', (error: NodeJS.ErrnoException) =>
      onRejected(client.caller, error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' ? 'too-large' : 'invalid-request'),
    )
    webSocket.on('close', () => {
      gone.abort()
      channel.end()
      pipe.forget()
    })
    return open
  }

  async function answer({ caller, address }: Client, message: Message, options: DispatchOptions): Promise<Reply> {
    let session: SessionRef | null = null
    if (caller.endpoint === 'agent') {
      session = await findSession(dispatcher.host, caller)
      const retryAfterSeconds = await authorizer.count(caller, session, address)
      if (retryAfterSeconds > 0) {
        const refusal = new WireError('rate-limited', tooManyCalls(retryAfterSeconds), {
          details: { retryAfterSeconds },
        })
        return dispatcher.refuse(refusal, message.id)
      }
    }
    return dispatcher.dispatch(caller, message, session ? { ...options, session } : options)
  }

  function deny(socket: Duplex, caller: Pick<Caller, 'endpoint' | 'principal'> | null, denial: Denial): void {
    onRejected(caller, `http-${denial.status}`)
    denyUpgrade(socket, denial)
  }
}

interface Client {
  readonly caller: Caller
  readonly address: string | undefined
  readonly identify: () => ReturnType<Authorizer['identify']>
}

const NO_ENDPOINT: Denial = {
  status: 404,
  message: 'There is no WebSocket here. The endpoints are /env and /mcp/s/<capability>.',
}
const TOO_MANY: Denial = { status: 429, message: 'You hold as many WebSockets as you may. Close one.' }
const LEAVING: Denial = { status: 503, message: 'This server is stopping and takes nobody in. Try again.' }
