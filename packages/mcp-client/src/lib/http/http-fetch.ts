import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import { isObject } from '@episodic/protocol/internal'
import { type Dispatcher, request } from 'undici'
import { type Authorizer, sendAuthorized } from '../login/authorized.ts'

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** Returns a `fetch` that logs in when a server asks for it. */
export function withAuthorizer(fetch: Fetch, authorizer: Authorizer | undefined): Fetch {
  return (url, init = {}) =>
    sendAuthorized(
      authorizer,
      (shown) => fetch(url, { ...init, headers: { ...headersOf(init.headers), ...shown } }),
      ({ status, headers }) => ({ status, challenge: headers.get('www-authenticate') ?? '' }),
      init.signal ?? undefined,
    )
}

/**
 * Returns a `fetch` on undici's `request`, which is several times cheaper per call than a full fetch.
 *
 * A JSON answer is an object with the methods of a `Response`; an event stream is a real `Response`. The stream of
 * messages that no request waits for does not keep the process alive.
 */
export function createFetch(dispatcher: Dispatcher): Fetch {
  return async (url, init = {}) => {
    const sent = headersOf(init.headers)
    if (init.method === 'GET' && sent['last-event-id'] === undefined) return openBackgroundStream(new URL(url), init)
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
      headers: sent,
      body: (init.body ?? null) as string | null,
      signal: init.signal ?? null,
    })
    const responseHeaders = new Headers()
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) responseHeaders.set(name, Array.isArray(value) ? value.join(', ') : value)
    if (String(headers['content-type']).startsWith('text/event-stream'))
      return new Response(Readable.toWeb(body) as ReadableStream<Uint8Array>, {
        status: statusCode,
        headers: responseHeaders,
      })
    const text = await body.text()
    return {
      ok: statusCode >= 200 && statusCode < 300,
      status: statusCode,
      statusText: '',
      headers: responseHeaders,
      body: null,
      text: async () => text,
      json: async () => answerIn(JSON.parse(text), String(init.body)),
    } as unknown as Response
  }
}

/** Returns the messages in a body. A refusal without an id has the request's. Throws if there is no answer. */
function answerIn(body: unknown, request: string): unknown {
  const id = /^\{"jsonrpc":"2\.0","id":(\d+)/.exec(request)?.[1]
  if (id === undefined) return body
  const messages = (Array.isArray(body) ? body : [body]).map((message) =>
    isObject(message) && message.id === null ? { ...message, id: Number(id) } : message,
  )
  if (messages.some((message) => isObject(message) && String(message.id) === id)) return messages
  throw new SyntaxError('The body has no answer to the request.')
}

function headersOf(headers: RequestInit['headers']): Record<string, string> {
  return headers instanceof Headers || Array.isArray(headers)
    ? Object.fromEntries(headers as Iterable<[string, string]>)
    : ((headers as Record<string, string> | undefined) ?? {})
}

/**
 * Opens the stream of unsolicited server messages, over a socket that does not keep the process alive: a process can
 * end although it never closed its sessions, as with a child process.
 */
async function openBackgroundStream(url: URL, { headers, signal }: RequestInit): Promise<Response> {
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
