import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy in front of an HTTP server. */
interface FateProxy extends AsyncDisposable {
  readonly origin: string
}

/**
 * What becomes of an exchange: `lose` the request before it reaches the server, `cut` the answer after its first event,
 * or `drop` all of it.
 */
export type Fate = 'pass' | 'lose' | 'cut' | 'drop'

/** Decides the fate of a request. */
export type FateOf = (request: { readonly path: string; readonly body: string }) => Fate

/** Starts a proxy. */
export async function startFateProxy(target: string, fateOf: FateOf): Promise<FateProxy> {
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
    if (fate === 'drop') return void answer.destroy()
    const { 'set-cookie': cookies, 'content-type': type = '' } = answered.headers
    answer.writeHead(answered.statusCode ?? 502, { 'content-type': type, ...(cookies && { 'set-cookie': cookies }) })
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
