import type { JsonObject } from '@episodic/protocol'
import { MODERN_VERSION, WIRE_VERSION } from '@episodic/protocol/extend'
import {
  type CallToolResult,
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  specTypeSchemas,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Connection, WaitOptions } from './connection.ts'
import { boundedFetch } from './sdk-bounded-fetch.ts'
import type { ChildReaper } from './sdk-child-reaper.ts'
import { failureOf, STREAM_ENDED, unsaid } from './sdk-failure.ts'
import { Explained, isOtherEra, mayBeModern, openingError } from './sdk-opening-failure.ts'
import type { CommandServer, ServerConfig, UrlServer } from './server-config.ts'
import type { SessionTool } from './session-tool.ts'
import { refusedAnswer, type ToolAnswer, type ToolContent, toolAnswerOf } from './tool-answer.ts'

/** Pages of tools that are read: a server that never stops paging must not keep us. */
const PAGES = 64
/** Milliseconds that the end of a session over HTTP may take. */
const GOODBYE = 2_000
/** What any tool answers. Where it is not named, the SDK looks for it anew at each call, by having it fail once. */
const RESULT = specTypeSchemas.CallToolResult

export interface ConnectionOptions extends WaitOptions {
  /** Gives what ends a child after this process has died. */
  readonly loadReaper: () => Promise<ChildReaper>
  readonly openMilliseconds: number
  readonly callMilliseconds: number
}

/** A way to a server, and how to leave it. */
interface Line {
  readonly transport: Transport
  /** Tells the server that the session is over, before the line is cut. */
  readonly sayGoodbye: () => Promise<void>
  /** How the server's process ended, or `null`. */
  readonly ending: () => string | null
  /** What the server said that is no message. */
  readonly printed: () => string
}

/**
 * Connects to a server. One that keeps sessions is asked for one, by the handshake of the eras before 2026-07-28; one
 * that speaks only the newer protocol is spoken to so.
 *
 * Rejects with `connection-failed` or `unauthorized`, or with the signal's own reason.
 */
export async function openConnection(
  name: string,
  server: ServerConfig,
  options: ConnectionOptions,
): Promise<Connection> {
  options.signal?.throwIfAborted()
  let refusal: unknown
  try {
    return await connect(server, 'legacy', options)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!mayBeModern(error)) throw openingError(name, server, error)
    refusal = error
  }
  try {
    return await connect(server, 'modern', options)
  } catch (error) {
    options.signal?.throwIfAborted()
    // How the handshake was refused says more than that the newer protocol is not spoken either.
    throw openingError(name, server, isOtherEra(error) ? refusal : error)
  }
}

async function connect(server: ServerConfig, era: Connection['era'], options: ConnectionOptions): Promise<Connection> {
  const line = await openLine(server, options.loadReaper)
  endPendingWithStream(line.transport)
  const client = new Client(
    { name: 'episodic', version: WIRE_VERSION },
    { listMaxPages: PAGES, versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: MODERN_VERSION } } },
  )
  try {
    await client.connect(line.transport, waitOf(options, options.openMilliseconds))
  } catch (cause) {
    await client.close().catch(() => {})
    await line.transport.close().catch(() => {})
    const printed = line.printed()
    const explained = [line.ending(), printed && `it printed: ${printed}`].filter(Boolean).join('; ')
    throw explained ? new Explained(explained, cause) : cause
  }
  return connectionOf(client, line, era, options)
}

function connectionOf(
  client: Client,
  line: Line,
  era: Connection['era'],
  { openMilliseconds, callMilliseconds }: ConnectionOptions,
): Connection {
  let gone: string | null = null
  let closed: Promise<void> | null = null
  client.onclose = () => {
    gone = line.ending() ?? 'the connection was closed'
  }
  const ask = async <T>(signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      signal?.throwIfAborted()
      throw failureOf(error, line.ending()) ?? error
    }
  }
  const close = async () => {
    if (gone === null) await line.sayGoodbye()
    await client.close().catch(() => {})
    await line.transport.close().catch(() => {})
  }
  return {
    era,
    get gone() {
      return gone
    },
    async listTools({ signal }) {
      const wait = waitOf({ signal }, openMilliseconds)
      return ask(signal, async () => (await client.listTools(undefined, wait)).tools.map(toolOf))
    },
    async call({ name, inputSchema }, args, { signal }) {
      const wait = waitOf({ signal }, callMilliseconds)
      const params = { name, arguments: args }
      try {
        // The schema of the answer stays out: what a server says is for the model to read, also where it breaks its word.
        if (era === 'legacy') return answerOf(await client.request({ method: 'tools/call', params }, RESULT, wait))
        const toolDefinition = { name, inputSchema: inputSchema as Tool['inputSchema'] }
        return answerOf(await client.callTool(params, { ...wait, toolDefinition }))
      } catch (error) {
        signal?.throwIfAborted()
        const failure = unsaid(args, error) ?? failureOf(error, line.ending())
        if (failure) throw failure
        // Some servers refuse arguments in this way instead of with a tool's answer.
        return refusedAnswer((error as Error).message)
      }
    },
    async ping({ signal }) {
      const wait = waitOf({ signal }, callMilliseconds)
      await ask(signal, () => (era === 'legacy' ? client.ping(wait) : client.discover(wait)))
    },
    close() {
      closed ??= close()
      return closed
    },
  }
}

async function openLine(server: ServerConfig, loadReaper: ConnectionOptions['loadReaper']): Promise<Line> {
  return 'url' in server ? openHttp(server) : openChild(server, await loadReaper())
}

function openHttp({ url, headers, token, authorization }: UrlServer): Line {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch,
    requestInit: { headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) } },
    ...(authorization && { authProvider: authorization as OAuthClientProvider }),
  })
  const sayGoodbye = async () => {
    if (transport.sessionId === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, GOODBYE)
    await Promise.race([transport.terminateSession().catch(() => {}), promise])
    clearTimeout(timer)
  }
  return { transport: transport as Transport, sayGoodbye, ending: () => null, printed: () => '' }
}

async function openChild(server: CommandServer, reaper: ChildReaper): Promise<Line> {
  const { ChildTransport } = await import('./sdk-child-transport.ts')
  const transport = new ChildTransport(server, reaper)
  return { transport, sayGoodbye: async () => {}, ending: () => transport.exit, printed: () => transport.printed }
}

/** Answers a request whose stream ended without an answer, which the SDK would wait for until its time is up. */
function endPendingWithStream(transport: Transport): void {
  if (!transport.hasPerRequestStream) return
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    if (!('id' in message && 'method' in message)) return send(message, options)
    const { id } = message
    const onRequestStreamEnd = () =>
      transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: STREAM_ENDED, message: 'The stream ended.' } })
    return send(message, { ...options, onRequestStreamEnd })
  }
}

function waitOf({ signal }: WaitOptions, timeout: number) {
  return { timeout, ...(signal && { signal }) }
}

function toolOf({ name, description = '', inputSchema, outputSchema, annotations = {} }: Tool): SessionTool {
  return {
    name,
    description,
    inputSchema: inputSchema as JsonObject,
    outputSchema: (outputSchema as JsonObject | undefined) ?? null,
    annotations,
  }
}

function answerOf({ content, structuredContent, isError }: CallToolResult): ToolAnswer {
  return toolAnswerOf(content as ToolContent[], (structuredContent as JsonObject | undefined) ?? null, isError === true)
}
