import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request and its answer, as they passed. */
export interface Exchange {
  readonly method: string
  readonly path: string
  /** The id of the session that the request names; `null` if it names none. */
  readonly session: string | null
  readonly body: string
  readonly status: number
  readonly type: string
  readonly answer: string
}

/** A proxy in front of an HTTP server. */
export interface ExchangeProxy extends AsyncDisposable {
  readonly origin: string
}

/**
 * What becomes of an exchange: `lose` the request before it reaches the server, `cut` the answer after its first event, or
 * `drop` all of it.
 */
export type Fate = 'pass' | 'lose' | 'cut' | 'drop'

/** Starts a proxy that decides the fate of each request, and shows each exchange that reached the server. */
export async function startExchangeProxy(
  target: string,
  {
    fateOf = () => 'pass',
    onExchange = () => {},
  }: {
    readonly fateOf?: (request: Pick<Exchange, 'path' | 'body'>) => Fate
    readonly onExchange?: (exchange: Exchange) => void
  },
): Promise<ExchangeProxy> {
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
    const fate = fateOf({ path, body })
    if (fate === 'lose') return void answer.destroy()
    const forwarded = request(new URL(path, target), {
      method,
      headers: { ...headers, host: new URL(target).host },
    })
    forwarded.end(body)
    const [answered] = (await once(forwarded, 'response')) as [IncomingMessage]
    const text = await textOf(answered)
    const status = answered.statusCode ?? 502
    const type = answered.headers['content-type'] ?? ''
    const session = (headers['x-session-id'] as string | undefined) ?? null
    onExchange({ method, path, session, body, status, type, answer: text })
    if (fate === 'drop') return void answer.destroy()
    answer.writeHead(status, { 'content-type': type })
    if (fate === 'pass') return void answer.end(text)
    const [first = ''] = text.split('\n\n', 1)
    answer.write(`${first}\n\n`, () => answer.destroy())
  }
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
