import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy in front of an HTTP server that keeps every byte which a client receives. */
export interface RecordingProxy extends AsyncDisposable {
  /** The address of a path of the server, behind the proxy. */
  urlOf(path: string): string
  /** What clients have received since the last call of this. */
  take(): string
}

/** Starts a proxy in front of the server at a URL. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const { hostname, port, host } = new URL(target)
  let received: Buffer[] = []
  const proxy = createServer((asked, answer) => {
    const { method, url: path, headers } = asked
    const forwarded = request({ hostname, port, method, path, headers: { ...headers, host } }, (answered) => {
      received.push(Buffer.from(`\n${answered.rawHeaders.join('\n')}\n`))
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders)
      answered.on('data', (chunk: Buffer) => received.push(chunk))
      answered.pipe(answer)
      answered.on('error', () => answer.destroy())
    })
    forwarded.on('error', () => answer.destroy())
    // Clients end a stream of events by hanging up.
    answer.on('close', () => forwarded.destroy())
    asked.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port: listening } = proxy.address() as AddressInfo
  return {
    urlOf: (path) => `http://127.0.0.1:${listening}${path}`,
    take() {
      const text = Buffer.concat(received).toString('utf8')
      received = []
      return text
    },
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
