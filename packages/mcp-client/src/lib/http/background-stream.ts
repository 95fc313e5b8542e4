import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'

/**
 * Opens the stream of unsolicited server messages, over a socket that does not keep the process alive: a process can
 * end although it never closed its sessions, as with a child process.
 */
export async function openBackgroundStream(url: URL, { headers, signal }: RequestInit): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const open = url.protocol === 'https:' ? requestHttps : requestHttp
  const request = open(url, {
    agent: false,
    headers: Object.fromEntries(new Headers(headers as ConstructorParameters<typeof Headers>[0])),
    ...(signal && { signal }),
  })
  request.on('socket', (socket) => socket.unref())
  request.on('error', reject)
  request.on('response', (response) => {
    // After the response head, the stream reports its own errors.
    request.on('error', () => {})
    const status = response.statusCode ?? 0
    const said = Object.entries(response.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    )
    const body = status === 204 ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>)
    resolve(new Response(body, { status, headers: said }))
  })
  request.end()
  return promise
}
