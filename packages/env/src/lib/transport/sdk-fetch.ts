import { Readable } from 'node:stream'
import { type Dispatcher, request } from 'undici'
import { type Authorizer, sendAuthorized } from './authorized.ts'

/** The part of `fetch` that an MCP client needs. */
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
 * A JSON answer is an object with the methods of a `Response`; an event stream is a real `Response`.
 */
export function createFetch(dispatcher: Dispatcher): Fetch {
  return async (url, init = {}) => {
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
      headers: headersOf(init.headers),
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
      json: async () => JSON.parse(text),
    } as unknown as Response
  }
}

function headersOf(headers: RequestInit['headers']): Record<string, string> {
  return headers instanceof Headers || Array.isArray(headers)
    ? Object.fromEntries(headers as Iterable<[string, string]>)
    : ((headers as Record<string, string> | undefined) ?? {})
}
