import type { JsonObject } from '@episodic/protocol'
import { MODERN_VERSION, readServerResult, WIRE_VERSION } from '@episodic/protocol/internal'
import {
  type CallToolResult,
  Client,
  type OAuthClientProvider,
  type RequestOptions,
  StreamableHTTPClientTransport,
  specTypeSchemas,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Connection, WaitOptions } from './connection.ts'
import { boundedFetch } from './sdk-bounded-fetch.ts'
import {
  Explained,
  failureOf,
  mayBeModern,
  openingError,
  STREAM_ENDED,
  supportsNoModern,
  unsaid,
} from './sdk-failure.ts'
import type { CommandServer, ServerConfig, UrlServer } from './server-config.ts'
import type { SessionTool } from './session-tool.ts'
import { refusedAnswer, type ToolAnswer, type ToolContent, toolAnswerOf } from './tool-answer.ts'

/** The most pages of tools that are read, in case a server never stops paging. */
const PAGES = 64
/** Milliseconds for the end of a session over HTTP. */
const GOODBYE = 2_000
/** The schema of a tool's answer. Without it, the SDK searches for it at each call, with a failed attempt. */
const RESULT = specTypeSchemas.CallToolResult
/** The schema of a page of tools. */
const TOOLS = specTypeSchemas.ListToolsResult

export interface ConnectionOptions extends WaitOptions {
  readonly openMilliseconds: number
  readonly callMilliseconds: number
}

/** A transport to a server, and what is known about its end. */
interface OpenTransport {
  readonly transport: Transport
  /** Ends the session at the server, before the transport is closed. */
  readonly endSession: () => Promise<void>
  /** Returns how the server's process ended, or `null`. */
  readonly ending: () => string | null
  /** Returns the output of the server that is not a message. */
  readonly printed: () => string
}

/**
 * Connects to a server: with the handshake of the session-based versions if the server supports it, so that the server
 * can keep a session, otherwise with the stateless version 2026-07-28.
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
    // The rejection of the handshake says more than the missing support for the stateless version.
    throw openingError(name, server, supportsNoModern(error) ? refusal : error)
  }
}

async function connect(
  server: ServerConfig,
  protocol: Connection['protocol'],
  options: ConnectionOptions,
): Promise<Connection> {
  const line = await openLine(server)
  readTolerantly(line.transport)
  endPendingWithStream(line.transport)
  const client = new Client(
    { name: 'episodic', version: WIRE_VERSION },
    { listMaxPages: PAGES, versionNegotiation: { mode: protocol === 'legacy' ? 'legacy' : { pin: MODERN_VERSION } } },
  )
  try {
    const { startSeconds } = 'command' in server ? server : {}
    const wait = startSeconds === undefined ? options.openMilliseconds : startSeconds * 1_000
    await client.connect(line.transport, waitOf(options, wait))
  } catch (cause) {
    await client.close().catch(() => {})
    await line.transport.close().catch(() => {})
    const printed = line.printed()
    const explained = [line.ending(), printed && `it printed: ${printed}`].filter(Boolean).join('; ')
    throw explained ? new Explained(explained, cause) : cause
  }
  return connectionOf(client, line, protocol, options)
}

function connectionOf(
  client: Client,
  line: OpenTransport,
  protocol: Connection['protocol'],
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
    if (gone === null) await line.endSession()
    await client.close().catch(() => {})
    await line.transport.close().catch(() => {})
  }
  return {
    protocol,
    get gone() {
      return gone
    },
    async listTools({ signal }) {
      const wait = waitOf({ signal }, openMilliseconds)
      return ask(signal, async () => (await listTools(client, wait)).map(toolOf))
    },
    async call({ name, inputSchema }, args, { signal }) {
      const wait = waitOf({ signal }, callMilliseconds)
      const params = { name, arguments: args }
      try {
        // No output schema: the model reads the answer even if it breaks the schema of its tool.
        if (protocol === 'legacy') return answerOf(await client.request({ method: 'tools/call', params }, RESULT, wait))
        const toolDefinition = { name, inputSchema: inputSchema as Tool['inputSchema'] }
        return answerOf(await client.callTool(params, { ...wait, toolDefinition }))
      } catch (error) {
        signal?.throwIfAborted()
        const failure = unsaid(args, error) ?? failureOf(error, line.ending())
        if (failure) throw failure
        // Some servers reject arguments with an error instead of a tool's answer.
        return refusedAnswer((error as Error).message)
      }
    },
    async ping({ signal }) {
      const wait = waitOf({ signal }, callMilliseconds)
      await ask(signal, () => (protocol === 'legacy' ? client.ping(wait) : client.discover(wait)))
    },
    close() {
      closed ??= close()
      return closed
    },
  }
}

async function openLine(server: ServerConfig): Promise<OpenTransport> {
  return 'url' in server ? openHttp(server) : openChild(server)
}

function openHttp({ url, headers, token, authorization }: UrlServer): OpenTransport {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch,
    requestInit: { headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) } },
    ...(authorization && { authProvider: authorization as OAuthClientProvider }),
  })
  const endSession = async () => {
    if (transport.sessionId === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, GOODBYE)
    await Promise.race([transport.terminateSession().catch(() => {}), promise])
    clearTimeout(timer)
  }
  return { transport: transport as Transport, endSession, ending: () => null, printed: () => '' }
}

async function openChild(server: CommandServer): Promise<OpenTransport> {
  // Code that starts processes is loaded only for servers that need it.
  const { ServerProcess } = await import('@episodic/protocol/pipe/internal')
  const transport = new ServerProcess(server)
  return {
    transport: transport as Transport,
    endSession: async () => {},
    ending: () => transport.exit,
    printed: () => transport.printed,
  }
}

/**
 * Lets the client read results that a server writes a little differently, see `readServerResult`: it would reject all
 * tools for one of them.
 */
function readTolerantly(transport: Transport): void {
  const methods = new Map<unknown, string>()
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    if ('method' in message && 'id' in message) methods.set(message.id, message.method)
    return send(message, options)
  }
  let listener: Transport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => listener,
    set(next: Transport['onmessage']) {
      listener =
        next &&
        ((message, extra) => {
          if (!('id' in message) || 'method' in message) return next(message, extra)
          const method = methods.get(message.id) ?? ''
          methods.delete(message.id)
          if (!('result' in message)) return next(message, extra)
          const result = readServerResult(method, message.result, leaveOut) as typeof message.result
          return next({ ...message, result }, extra)
        })
    },
  })
}

/** Warns of a tool that cannot be read. The other tools of its server can be used. */
function leaveOut(tool: string): void {
  globalThis.process?.emitWarning?.(
    `A server lists the tool ${tool} in a form that cannot be read, or for a second time, so it is left out.`,
  )
}

/** Rejects a request whose stream ended without an answer; the SDK would wait until its timeout. */
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

/** Lists the tools of a server, though it may not say that it has any. */
async function listTools(client: Client, wait: RequestOptions): Promise<Tool[]> {
  if (client.getServerCapabilities()?.tools) return (await client.listTools(undefined, wait)).tools
  return client.request({ method: 'tools/list' }, TOOLS, wait).then(
    ({ tools }) => tools,
    () => [],
  )
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
