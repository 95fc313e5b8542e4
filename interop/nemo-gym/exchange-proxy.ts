import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request and its answer, as they passed. */
export interface Exchange {
  readonly method: string
  readonly path: string
  /** The `Cookie` header; empty if there was none. */
  readonly cookie: string
  readonly body: string
  readonly status: number
  /** The `Set-Cookie` header; empty if there was none. */
  readonly setCookie: string
  readonly answer: string
}

export interface ExchangeProxy extends AsyncDisposable {
  readonly origin: string
}

/** What becomes of an exchange: `lose` the request before it reaches the server, or `cut` the connection before the answer. */
export type Fate = 'pass' | 'lose' | 'cut'

export interface ExchangeProxyOptions {
  /** Default: everything passes. */
  readonly fateOf?: (path: string) => Fate
  /** Is called with each exchange that reached the server. */
  readonly onExchange?: (exchange: Exchange) => void
}

/** Starts a proxy in front of an HTTP server. */
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
    const body = await textOf(asked)
    const fate = fateOf(path)
    if (fate === 'lose') return void answer.destroy()
    const forwarded = request(new URL(path, target), { method, headers: { ...headers, host: new URL(target).host } })
    forwarded.end(body)
    const [answered] = (await once(forwarded, 'response')) as [IncomingMessage]
    const text = await textOf(answered)
    const status = answered.statusCode ?? 502
    const { 'set-cookie': [setCookie = ''] = [], 'content-type': type = '' } = answered.headers
    onExchange({ method, path, cookie: headers.cookie ?? '', body, status, setCookie, answer: text })
    if (fate === 'cut') return void answer.destroy()
    answer.writeHead(status, { 'content-type': type, ...(setCookie && { 'set-cookie': setCookie }) }).end(text)
  }
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
