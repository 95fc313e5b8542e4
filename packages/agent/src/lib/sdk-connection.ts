import { type JsonObject, MODERN_VERSION, WIRE_VERSION } from '@episodic/protocol'
import {
  type CallToolResult,
  Client,
  type OAuthClientProvider,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import { AgentError } from './agent-error.ts'
import type { Connection, WaitOptions } from './connection.ts'
import { reasonOf } from './reason.ts'
import { boundedFetch } from './sdk-bounded-fetch.ts'
import type { ChildReaper } from './sdk-child-reaper.ts'
import { failureOf, STREAM_ENDED } from './sdk-failure.ts'
import type { CommandServer, ServerConfig, UrlServer } from './server-config.ts'
import type { SessionTool } from './session-tool.ts'
import { refusedAnswer, type ToolAnswer, type ToolContent, toolAnswerOf } from './tool-answer.ts'

/** Pages of tools that are read: a server that never stops paging must not keep us. */
const PAGES = 64
/** Milliseconds that the end of a session over HTTP may take. */
const GOODBYE = 2_000

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
  /** What is known of a server that does not talk. */
  readonly explain: () => string
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
  try {
    return await connect(server, 'legacy', options)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!mayBeModern(error)) throw refused(name, server, error)
  }
  try {
    return await connect(server, 'modern', options)
  } catch (error) {
    options.signal?.throwIfAborted()
    throw refused(name, server, error)
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
    const explained = line.explain()
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
  let gone = false
  let closed: Promise<void> | null = null
  client.onclose = () => {
    gone = true
  }
  const ask = async <T>(signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      signal?.throwIfAborted()
      throw failureOf(error) ?? error
    }
  }
  const close = async () => {
    if (!gone) await line.sayGoodbye()
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
        if (era === 'legacy') return answerOf(await client.request({ method: 'tools/call', params }, wait))
        const toolDefinition = { name, inputSchema: inputSchema as Tool['inputSchema'] }
        return answerOf(await client.callTool(params, { ...wait, toolDefinition }))
      } catch (error) {
        signal?.throwIfAborted()
        const failure = failureOf(error)
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
  return { transport: transport as Transport, sayGoodbye, explain: () => '' }
}

async function openChild(server: CommandServer, reaper: ChildReaper): Promise<Line> {
  const { ChildTransport } = await import('./sdk-child-transport.ts')
  const transport = new ChildTransport(server, reaper)
  const explain = () => {
    const { exit, printed } = transport
    const said = printed && `it printed: ${printed}`
    return [exit, said].filter(Boolean).join('; ')
  }
  return { transport, sayGoodbye: async () => {}, explain }
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

/** An error of the SDK, and what is known besides. */
class Explained extends Error {
  constructor(explanation: string, cause: unknown) {
    super(explanation, { cause })
  }
}

/** Whether a server that refused to shake hands may know no handshake any more. */
function mayBeModern(error: unknown): boolean {
  const cause = error instanceof Explained ? error.cause : error
  if (cause instanceof ProtocolError) return cause.code !== STREAM_ENDED
  return cause instanceof SdkHttpError && [400, 404, 405, 406].includes(cause.status ?? 0)
}

function refused(name: string, server: ServerConfig, error: unknown): AgentError {
  const explanation = error instanceof Explained ? error.message : ''
  const cause = error instanceof Explained ? error.cause : error
  const where = 'url' in server ? server.url : `the command ${server.command}`
  const failure = failureOf(cause)
  if (failure?.kind === 'unauthorized')
    return new AgentError(
      'unauthorized',
      `The server ${name} (${where}) wants other credentials: ${failure.message}. Set its token, its headers or its authorization.`,
      { cause, details: { server: name, status: failure.status } },
    )
  const notThere = (cause as NodeJS.ErrnoException)?.code === 'ENOENT' && 'command' in server
  const why = notThere
    ? `there is no command ${server.command}${server.cwd ? `, or no folder ${server.cwd}` : ''}`
    : [failure?.message ?? reasonOf(cause), explanation].filter(Boolean).join('; ')
  return new AgentError('connection-failed', `Cannot open a session with the server ${name} (${where}): ${why}.`, {
    cause,
    details: { server: name },
  })
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
