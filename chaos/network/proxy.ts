import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'

/**
 * What happens to one request.
 *
 * - `request-lost`: the connection breaks before the server sees anything.
 * - `reply-lost`: it breaks after the server has written its whole answer.
 * - `reply-cut`: it breaks in the middle of the answer.
 * - `doubled`: two copies arrive at once, over two connections; the client gets whichever answer is first.
 * - `late-copy`: it is answered as usual, and a copy arrives `milliseconds` later.
 * - `straggler`: the connection breaks at once, and the request still arrives `milliseconds` later.
 * - `delayed`: it arrives `milliseconds` late.
 */
export type Fate =
  | { readonly kind: 'fine' | 'request-lost' | 'reply-lost' | 'reply-cut' | 'doubled' }
  | { readonly kind: 'late-copy' | 'straggler' | 'delayed'; readonly milliseconds: number }

/** A request and the whole answer that a server wrote, whether or not the client received it. */
export interface Exchange {
  readonly request: string
  readonly status: number
  readonly reply: string
}

export interface ProxyOptions {
  /** Decides what happens to a request, by its body. */
  readonly fate: (request: string) => Fate
  /** Called with every answer of the server, including those that are then lost. */
  readonly onExchange: (exchange: Exchange) => void
}

/** A bad connection to one server on this machine. */
export interface Proxy extends AsyncDisposable {
  readonly port: number
  /** The number of requests for each fate. */
  readonly fates: Readonly<Partial<Record<Fate['kind'], number>>>
  /** Requests that a server received and did not answer. */
  readonly severed: number
  /** Resolves once no copy is still to be sent. */
  settled(): Promise<void>
}

/**
 * Forwards requests of clients to the server at `port`, and loses, delays and doubles whole messages. If the server is
 * gone, the client's connection breaks, as it would without a proxy.
 */
export async function startProxy(port: number, { fate, onExchange }: ProxyOptions): Promise<Proxy> {
  const server = new Pool(`http://127.0.0.1:${port}`, { connections: 1_024, pipelining: 1 })
  const fates: Partial<Record<Fate['kind'], number>> = {}
  const stray = new Set<Promise<unknown>>()
  let severed = 0

  const forward = async ({ method = 'POST', url = '/', headers }: IncomingMessage, body: string) => {
    const { connection: _, 'transfer-encoding': __, 'content-length': ___, ...sent } = headers
    const [answer, reply] = await server
      .request({ method: method as 'POST', path: url, headers: sent, body: body || null })
      .then(async (response) => [response, await response.body.text()] as const)
      .catch((error) => {
        if (error.code !== 'ECONNREFUSED') severed += 1
        throw error
      })
    onExchange({ request: body, status: answer.statusCode, reply })
    return { answer, reply }
  }
  const later = (milliseconds: number, request: IncomingMessage, body: string) => {
    const copy = pause(milliseconds)
      .then(() => forward(request, body))
      .catch(() => {})
      .finally(() => stray.delete(copy))
    stray.add(copy)
  }

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readText(request)
    const comes = fate(body)
    fates[comes.kind] = (fates[comes.kind] ?? 0) + 1
    if (comes.kind === 'request-lost') return void response.destroy()
    if (comes.kind === 'straggler') {
      response.destroy()
      return later(comes.milliseconds, request, body)
    }
    if (comes.kind === 'delayed') await pause(comes.milliseconds)
    const first = forward(request, body)
    const { answer, reply } = await (comes.kind === 'doubled' ? Promise.any([first, forward(request, body)]) : first)
    if (comes.kind === 'late-copy') later(comes.milliseconds, request, body)
    if (comes.kind === 'reply-lost') return void response.destroy()
    const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...headers } = answer.headers
    response.writeHead(answer.statusCode, headers)
    if (comes.kind === 'reply-cut')
      return void response.write(reply.slice(0, reply.length >> 1), () => response.destroy())
    response.end(reply)
  }
  const listener = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    fates,
    get severed() {
      return severed
    },
    async settled() {
      await Promise.all(stray)
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => listener.close(resolve))
      listener.closeAllConnections()
      await Promise.all([closed, server.destroy()])
    },
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
