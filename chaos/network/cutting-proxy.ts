import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Rng } from '@episodic/protocol'

/**
 * What happens to a request, or to a message of a WebSocket.
 *
 * - `request-lost`: the connection is reset before the server sees anything.
 * - `reply-lost`: it is reset after the server has written its whole reply, of which the client receives nothing.
 * - `reply-cut`: it breaks in the middle of the reply.
 */
type Fault = 'none' | 'request-lost' | 'reply-lost' | 'reply-cut'

/** How often each fault happens, in shares of all requests. */
export interface Faults {
  readonly requestsLost: number
  readonly repliesLost: number
  readonly repliesCut: number
  /** Requests of which a copy arrives just before them. Not every protocol can detect one. Default: none. */
  readonly copied?: number
  /**
   * Requests of which a copy arrives after some later ones, over a connection of its own; also if they were lost, so
   * that their client has repeated them meanwhile. Default: none.
   */
  readonly copiedLate?: number
}

export interface CuttingProxyOptions {
  readonly faults: Faults
  readonly rng: Rng
  /** Returns the bytes of a reply that arrive at least when it is cut. Default: its headers alone. */
  readonly arrives?: (reply: Buffer) => number
  /** Called with every request of a client, and with every message that it sends over a WebSocket. */
  readonly onRequest?: () => void
}

/** A network between clients and a server, of which each connection of a client is one to the server. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number
  /** Requests and replies that this network lost or cut, and requests that it doubled. */
  readonly counts: Readonly<Required<Faults>>
}

/** Requests of all clients after which a late copy arrives, at most. */
const LATEST = 24

/** Forwards HTTP and WebSockets to the server at `port`. If the server is gone, the client's connection breaks. */
export async function startCuttingProxy(port: number, options: CuttingProxyOptions): Promise<CuttingProxy> {
  const { faults, rng, arrives = () => 0, onRequest } = options
  const counts = { requestsLost: 0, repliesLost: 0, repliesCut: 0, copied: 0, copiedLate: 0 }
  let late: { readonly deliver: () => Promise<unknown>; in: number }[] = []
  const agents = new WeakMap<Duplex, Agent>()
  const sockets = new Set<Socket>()

  const draw = (): Fault => {
    const share = rng.float()
    const { requestsLost, repliesLost, repliesCut } = faults
    if (share < requestsLost) {
      counts.requestsLost += 1
      return 'request-lost'
    }
    if (share < requestsLost + repliesLost) {
      counts.repliesLost += 1
      return 'reply-lost'
    }
    if (share < requestsLost + repliesLost + repliesCut) {
      counts.repliesCut += 1
      return 'reply-cut'
    }
    return 'none'
  }

  /** Draws whether a request has a copy of this kind. */
  const isCopied = (kind: 'copied' | 'copiedLate'): boolean => {
    const { [kind]: share = 0 } = faults
    if (share === 0 || rng.float() >= share) return false
    counts[kind] += 1
    return true
  }

  const forward = async ({ method, url: path, headers }: IncomingMessage, body: Buffer, agent: Agent | false) => {
    const forwarded = request({ host: '127.0.0.1', port, method, path, headers, agent })
    forwarded.end(body)
    const [answered] = (await once(forwarded, 'response')) as [IncomingMessage]
    return answered
  }

  const pass = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const body = await buffer(asked)
    const { socket } = asked
    onRequest?.()
    deliverLate()
    if (isCopied('copiedLate'))
      late.push({ deliver: () => forward(asked, body, false).then(buffer), in: rng.int(1, LATEST) })
    const fault = draw()
    if (fault === 'request-lost') return void socket.resetAndDestroy()
    const agent = agentOf(socket)
    if (isCopied('copied')) await buffer(await forward(asked, body, agent))
    const answered = await forward(asked, body, agent)
    if (fault === 'none') {
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders)
      answered.on('error', () => socket.destroy())
      return void answered.pipe(answer)
    }
    const reply = await arrivedOf(answered)
    if (fault === 'reply-lost') return void socket.resetAndDestroy()
    const least = arrives(reply)
    answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders)
    answer.flushHeaders()
    const kept = reply.subarray(0, rng.int(least, Math.max(least, reply.length - 1)))
    answer.write(kept.length > 0 ? kept : Buffer.alloc(0), () => socket.destroy())
    if (kept.length === 0) socket.destroySoon()
  }

  /** Lets the copies arrive that were to come after this many requests. */
  function deliverLate(): void {
    for (const copy of late) copy.in -= 1
    for (const { deliver } of late.filter((copy) => copy.in === 0)) deliver().catch(() => {})
    late = late.filter((copy) => copy.in > 0)
  }

  /** One connection to the server for each of a client, so that both end together. */
  function agentOf(socket: Socket): Agent {
    const known = agents.get(socket)
    if (known) return known
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    agents.set(socket, agent)
    socket.once('close', () => agent.destroy())
    return agent
  }

  const listener = createServer({ keepAliveTimeout: 65_000 }, (asked, answer) => {
    pass(asked, answer).catch(() => asked.socket.destroy())
  })
  listener.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  listener.on('upgrade', (asked: IncomingMessage, stream: Duplex, head: Buffer) => {
    const client = stream as Socket
    if (draw() === 'request-lost') return client.resetAndDestroy()
    const server = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
    server.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${linesOf(asked.rawHeaders)}\r\n`)
    server.write(head)
    let fault: Fault = 'none'
    // One message is one chunk: the clients wait for each answer, and messages are short.
    client.on('data', (chunk: Buffer) => {
      onRequest?.()
      fault = draw()
      if (fault === 'request-lost') client.resetAndDestroy()
      else server.write(chunk)
    })
    server.on('data', (chunk: Buffer) => {
      if (fault === 'reply-lost') client.resetAndDestroy()
      else if (fault === 'reply-cut') client.write(chunk.subarray(0, chunk.length / 2), () => client.destroy())
      else client.write(chunk)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    counts,
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close')
      listener.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Resolves with what came of a reply: all of it, unless its server was killed meanwhile. */
async function arrivedOf(reply: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  // `once` would reject, and what came would be lost.
  await new Promise<void>((resolve) => {
    reply
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('error', () => {})
      .on('close', () => resolve())
  })
  return Buffer.concat(chunks)
}

function linesOf(rawHeaders: readonly string[]): string {
  let lines = ''
  for (let at = 0; at < rawHeaders.length; at += 2) lines += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`
  return lines
}
