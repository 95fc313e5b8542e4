import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request and its answer, as they passed. */
export interface Exchange {
  readonly method: string
  readonly path: string
  /** The headers that name the session; empty if there are none. */
  readonly cookie: string
  readonly sessionId: string
  readonly body: string
  readonly status: number
  readonly type: string
  /** Empty if there is none. */
  readonly setCookie: string
  readonly answer: string
}

/** A proxy in front of an HTTP server. */
export interface ExchangeProxy extends AsyncDisposable {
  readonly origin: string
}

/**
 * What becomes of an exchange: `lose` the request before it reaches the server, `cut` the answer after its first event,
 * or `drop` all of it.
 */
export type Fate = 'pass' | 'lose' | 'cut' | 'drop'

/** Decides the fate of a request. */
export type FateOf = (request: Pick<Exchange, 'path' | 'body'>) => Fate

export interface ExchangeProxyOptions {
  /** Default: everything passes. */
  readonly fateOf?: FateOf | undefined
  /** Is called with each exchange that reached the server. */
  readonly onExchange?: (exchange: Exchange) => void
}

/** Starts a proxy. */
export async function startExchangeProxy(target: string, options: ExchangeProxyOptions): Promise<ExchangeProxy> {
  const { fateOf = () => 'pass', onExchange = () => {} } = options
  const proxy = createServer((asked, answer) => {
    relay(asked, answer).catch(() => answer.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }

  async function relay(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = asked
    const body = await readText(asked)
    const fate = fateOf({ path, body })
    if (fate === 'lose') return void answer.destroy()
    const forwarded = request(new URL(path, target), { method, headers: { ...headers, host: new URL(target).host } })
    forwarded.end(body)
    const [answered] = (await once(forwarded, 'response')) as [IncomingMessage]
    const text = await readText(answered)
    const status = answered.statusCode ?? 502
    const { 'set-cookie': [setCookie = ''] = [], 'content-type': type = '' } = answered.headers
    const { cookie = '', 'x-session-id': sessionId = '' } = headers
    onExchange({ method, path, cookie, sessionId: String(sessionId), body, status, type, setCookie, answer: text })
    if (fate === 'drop') return void answer.destroy()
    answer.writeHead(status, { 'content-type': type, ...(setCookie && { 'set-cookie': setCookie }) })
    if (fate === 'pass') return void answer.end(text)
    const [first = ''] = text.split('\n\n', 1)
    answer.write(`${first}\n\n`, () => answer.destroy())
  }
}

async function readText(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
