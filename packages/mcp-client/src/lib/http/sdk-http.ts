import type { JsonObject } from '@episodic/protocol'
import { SdkError, SdkErrorCode, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Agent } from 'undici'
import { createMessageSession, type MessageLine } from '../calls/message-session.ts'
import { createAuthorizer } from '../login/sdk-authorization.ts'
import { McpError, noAnswer, reasonOf } from '../mcp-error.ts'
import { type Found, findProtocolSupport, negotiate, withinTime } from '../protocol-support.ts'
import type { Bounds, ChannelOptions, Connected, HttpTarget, WaitOptions } from '../target.ts'
import { createDirectChannel } from './direct-channel.ts'
import { socketFailure, statusFailure } from './http-failure.ts'
import { createFetch, withAuthorizer } from './http-fetch.ts'

/** The most sockets of one channel; further calls wait for a free one. */
const SOCKETS = 64
/** Milliseconds for a server to open the stream on which it may ask; one without a stream refuses it at once. */
const STREAM_TIME = 5_000
/** Milliseconds for a server to end a session. */
const GOODBYE = 2_000

/**
 * Connects to a server over HTTP. One with the stateless version gets direct requests, and so do our own. With any
 * other, a session is kept over the transport of the SDK, which resumes its streams.
 */
export async function openHttp(target: HttpTarget, options: ChannelOptions, bounds: Bounds): Promise<Connected> {
  const { url, token, headers, authorization } = target
  const { openMilliseconds, callMilliseconds, answerBytes } = bounds
  const authorizer = authorization && createAuthorizer(url, authorization)
  const dispatcher = new Agent({ connections: SOCKETS, pipelining: 1, maxResponseSize: answerBytes })
  const sent = { ...headers, ...(token && { authorization: `Bearer ${token}` }) }
  const { onMessage, elicit, questions } = options
  const direct = (modern: boolean) =>
    createDirectChannel({
      ...{ url, dispatcher, headers: sent, authorizer, onMessage, elicit, questions },
      ...{ timeout: callMilliseconds, modern },
    })
  const shake = async ({ signal }: WaitOptions) => {
    const listening = Promise.withResolvers<void>()
    const fetch = withAuthorizer(createFetch(dispatcher), authorizer)
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      async fetch(to, init) {
        try {
          return await fetch(to, init)
        } finally {
          if (init?.method === 'GET') listening.resolve()
        }
      },
      requestInit: { headers: sent },
    })
    const session = createMessageSession(transport as unknown as MessageLine, {
      ...{ name: url, callMilliseconds, onMessage, elicit, questions },
      ending: () => 'the connection was closed',
      note: () => '',
      failureOf: (error) => failureOf(url, error),
    })
    try {
      await transport.start()
      const { capabilities } = await session.shakeHands({ signal })
      if (elicit) await withinTime(listening.promise, STREAM_TIME, signal)
      signal?.throwIfAborted()
      return { capabilities, session, transport }
    } catch (error) {
      await session.close()
      throw error
    }
  }
  const late = AbortSignal.timeout(openMilliseconds)
  const waiting = { signal: options.signal ? AbortSignal.any([options.signal, late]) : late }
  type Handshake = Awaited<ReturnType<typeof shake>>
  const find = async (): Promise<Found<Handshake>> => {
    const known = options.protocols?.get(url)
    if (known === undefined) return negotiate(direct(true), shake, waiting)
    if (known !== 'legacy') return { protocol: known }
    try {
      return { protocol: known, handshake: await shake(waiting) }
    } catch (error) {
      // It may have the stateless version alone, but a lost or refused connection will not be better for that.
      if (!mayBeModern(error)) throw error
      const found = await findProtocolSupport(direct(true), waiting)
      if (found.protocol === 'legacy') throw error
      return found
    }
  }
  try {
    const found = await find()
    const { protocol, handshake } = found
    options.protocols?.set(url, protocol)
    const capabilities = (handshake?.capabilities ?? found.capabilities ?? {}) as JsonObject
    if (!handshake)
      return {
        protocol,
        capabilities,
        // Our own servers need no sender in a request, and a request without it is shorter.
        request: direct(protocol === 'modern').request,
        ending: () => null,
        release: () => dispatcher.destroy(),
      }
    const { session, transport } = handshake
    return {
      protocol,
      capabilities,
      request: session.bare,
      ending: () => session.lost?.why ?? null,
      async release() {
        await withinTime(transport.terminateSession(), GOODBYE, undefined).catch(() => {})
        await session.close()
        await dispatcher.close()
      },
    }
  } catch (cause) {
    await dispatcher.destroy()
    options.signal?.throwIfAborted()
    const why = late.aborted ? `it has not answered within ${openMilliseconds / 1_000} seconds.` : null
    if (why === null && (!McpError.is(cause) || /^(login|option)-/.test(cause.code))) throw cause
    const { code, why: said, status, details } = cause as McpError
    throw new McpError(why ? 'timed-out' : code, `Cannot connect to ${url}: ${why ?? said}`, {
      why: why ?? said,
      status: status ?? undefined,
      details,
      cause,
    })
  }
}

/** Whether a server that rejected the handshake may support only the stateless version. */
function mayBeModern(error: unknown): boolean {
  return !McpError.is(error) || error.details.refused === true || [400, 404, 405, 406].includes(error.status ?? 0)
}

/** Translates an error of the SDK's transport, which means that no answer came. */
function failureOf(name: string, cause: unknown): McpError {
  if (McpError.is(cause)) return cause
  if (cause instanceof SdkHttpError && cause.status !== undefined)
    return statusFailure(name, { status: cause.status, text: String(cause.data?.text ?? ''), cause })
  const isMalformed =
    (cause instanceof SdkError && cause.code === SdkErrorCode.ClientHttpUnexpectedContent) ||
    cause instanceof SyntaxError ||
    /ZodError$/.test((cause as Error)?.name)
  if (!isMalformed) return socketFailure(name, cause)
  const why = cause instanceof SdkError ? reasonOf(cause) : 'it answered with what is no message of MCP'
  return noAnswer('malformed', name, { why, cause })
}
