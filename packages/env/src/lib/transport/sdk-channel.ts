import { type Channel, EXTENSION, type JsonObject } from '@episodic/protocol'
import { readServerResult, WIRE_VERSION } from '@episodic/protocol/internal'
import { ServerProcess } from '@episodic/protocol/pipe/internal'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  ElicitRequestSchema,
  LATEST_PROTOCOL_VERSION,
  McpError,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { Agent } from 'undici'
import { EnvError } from '../env-error.ts'
import { createDirectChannel } from './direct-channel.ts'
import { answerElicitation } from './elicitation.ts'
import { QuestionBudget, questionsAllowed } from './input-required.ts'
import { Pipe, printedBy } from './pipe.ts'
import { type Found, negotiate, withinTime } from './protocol-support.ts'
import { failureDetails, refusal } from './rpc-answer.ts'
import { createAuthorizer } from './sdk-authorization.ts'
import { createFetch, withAuthorizer } from './sdk-fetch.ts'
import { startInTurn } from './starting-servers.ts'
import type { ChannelOptions, CommandTarget, HttpTarget } from './target.ts'

/** The most sockets of one channel; further calls wait for a free one. */
const SOCKETS = 64
/** Milliseconds until a call without an answer fails. */
const CALL_TIMEOUT = 120_000
/** Milliseconds for a server to open the stream on which it may ask; one without a stream refuses it at once. */
const STREAM_TIME = 5_000
/** Seconds for a server to start and answer for the first time. Loading the code of a command may take a minute. */
const START_SECONDS = 120

/** A connected server. */
interface Connected extends Pick<Channel, 'request'> {
  readonly release: () => Promise<void>
}

/**
 * Opens a channel to an MCP server. A server with the stateless version gets direct requests. For any other, the SDK's
 * client performs the handshake and makes the calls, except those to our own servers.
 *
 * Rejects with `connection-failed`, and with `option-invalid` for an invalid bound.
 */
export async function openSdkChannel(
  target: HttpTarget | CommandTarget,
  options: ChannelOptions = {},
): Promise<Channel> {
  options.signal?.throwIfAborted()
  const connected = await ('url' in target ? openHttp(target, options) : openCommand(target, options))
  let closed: Promise<void> | null = null
  return {
    async request(method, params, requestOptions) {
      requestOptions?.signal?.throwIfAborted()
      return readServerResult(method, await connected.request(method, params, requestOptions), leaveOut)
    },
    close() {
      closed ??= connected.release()
      return closed
    },
  }
}

/** Warns of a tool that cannot be read. The other tools of its server can be used. */
function leaveOut(tool: string): void {
  process.emitWarning(
    `A server lists the tool ${tool} in a form that cannot be read, or for a second time, so it is left out.`,
  )
}

/** Returns a `request` that uses the SDK's client. */
function sdkRequest({ client, budget }: Handshaken, name: string, command?: ServerProcess): Channel['request'] {
  return async (method, params, { signal } = {}) => {
    const call = { method, params: params as Record<string, unknown> }
    try {
      return await budget.call(
        (ended) => client.request(call, ResultSchema, { timeout: CALL_TIMEOUT, signal: ended }),
        signal,
      )
    } catch (error) {
      signal?.throwIfAborted()
      throw translate(error, name, command)
    }
  }
}

async function openHttp(target: HttpTarget, options: ChannelOptions): Promise<Connected> {
  const { url, token, headers, authorization } = target
  const authorizer = authorization && createAuthorizer(url, authorization)
  const dispatcher = new Agent({ connections: SOCKETS, pipelining: 1 })
  const sent = { ...headers, ...(token && { authorization: `Bearer ${token}` }) }
  const { onMessage, elicit } = options
  const questions = questionsAllowed(options.questions)
  const direct = (modern: boolean) =>
    createDirectChannel({
      ...{ url, dispatcher, headers: sent, authorizer, onMessage, elicit, questions },
      ...{ timeout: CALL_TIMEOUT, modern },
    })
  const shake = async ({ signal }: Pick<ChannelOptions, 'signal'>) => {
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
    const handshaken = await shakeHands(transport, url, { ...options, signal })
    if (elicit) await withinTime(listening.promise, STREAM_TIME, signal)
    if (signal?.aborted) await handshaken.client.close()
    signal?.throwIfAborted()
    return { ...handshaken, transport }
  }
  let protocol = options.protocols?.get(url)
  let handshaken: Awaited<ReturnType<typeof shake>> | undefined
  try {
    if (!protocol) ({ protocol, handshake: handshaken } = await negotiate(direct(true), shake, options))
    if (protocol === 'legacy') handshaken ??= await shake(options)
  } catch (reason) {
    await dispatcher.destroy()
    throw reason
  }
  options.protocols?.set(url, protocol)
  // Our own servers need no sender in a request, and a request without it is shorter.
  if (!handshaken) return { request: direct(protocol === 'modern').request, release: () => dispatcher.close() }
  const { client, transport } = handshaken
  const version = { 'mcp-protocol-version': transport.protocolVersion ?? '' }
  const ours = client.getServerCapabilities()?.extensions?.[EXTENSION] !== undefined
  return {
    // `onMessage` needs the SDK's transport, which passes every message.
    request:
      ours && !options.onMessage
        ? createDirectChannel({
            url,
            dispatcher,
            headers: { ...sent, ...version },
            authorizer,
            timeout: CALL_TIMEOUT,
          }).request
        : sdkRequest(handshaken, url),
    async release() {
      await transport.terminateSession().catch(() => {})
      await client.close()
      await dispatcher.close()
    },
  }
}

/**
 * Opens a channel to a command. Some servers end, or refuse all that follows, if their first message is no handshake:
 * such a one is started again, and begins with the handshake. `protocols` remembers it.
 */
async function openCommand(target: CommandTarget, options: ChannelOptions): Promise<Connected> {
  const { command } = target
  const { protocols } = options
  const isLegacy = protocols?.get(command) === 'legacy'
  const { protocol, ...connected } = await startCommand(target, options, isLegacy).catch((error: object) => {
    if (!FAILED_AFTER_START.has(error)) throw error
    return startCommand(target, options, !isLegacy)
  })
  if (protocol === 'legacy') protocols?.set(command, protocol)
  return connected
}

/** The errors of servers that were started, and then failed: begun in another way, they may not. */
const FAILED_AFTER_START = new WeakSet<object>()

/** @param isLegacy - whether it is asked for its handshake, and not what it supports. */
async function startCommand(
  target: CommandTarget,
  options: ChannelOptions,
  isLegacy: boolean,
): Promise<Connected & Pick<Found<JsonObject>, 'protocol'>> {
  const { command, startSeconds = START_SECONDS } = target
  const name = `the command ${command}`
  const transport = new ServerProcess(target)
  const { signal, onMessage, onPrinted, elicit } = options
  transport.onprinted = onPrinted
  if (onMessage) overhear(transport, onMessage)
  const pipe = new Pipe(transport, { name, elicit, questions: questionsAllowed(options.questions) })
  let late: AbortSignal | undefined
  const start = async () => {
    await transport.start()
    late = AbortSignal.timeout(startSeconds * 1_000)
    const waiting = { signal: signal ? AbortSignal.any([signal, late]) : late }
    const greeting = { protocolVersion: LATEST_PROTOCOL_VERSION, ...introductionOf(elicit) }
    const shake = async (until: { readonly signal: AbortSignal }) =>
      (await pipe.bare('initialize', greeting, until)) as JsonObject
    const found: Found<JsonObject> = isLegacy
      ? { protocol: 'legacy' }
      : await negotiate({ request: pipe.modern }, shake, waiting)
    // A handshake with a process that has ended would say only that it is not connected.
    if (pipe.lost) throw pipe.lost
    const { protocol, handshake } = found
    // Our own servers need no sender in a request, and a request without it is shorter.
    if (protocol !== 'legacy')
      return { protocol, request: protocol === 'modern' ? pipe.modern : pipe.bare, release: () => pipe.close() }
    pipe.leave()
    // The process is running already.
    transport.start = async () => {}
    if (handshake) answerHandshake(transport, handshake)
    const { onMessage: _, ...overheard } = options
    const handshaken = await shakeHands(transport, name, { ...overheard, startSeconds })
    return { protocol, request: sdkRequest(handshaken, name, transport), release: () => handshaken.client.close() }
  }
  try {
    return await startInTurn(start, signal)
  } catch (cause) {
    await pipe.close()
    signal?.throwIfAborted()
    // What a lost pipe says has it already.
    const printed = cause === pipe.lost ? '' : printedBy(transport)
    const why = late?.aborted
      ? `it has not answered within ${startSeconds} seconds of its start. If it starts that slowly, give it longer with \`startSeconds\` beside its \`command\`.`
      : whyUnshaken(cause, transport)
    const error = new EnvError('connection-failed', `Cannot connect to ${name}: ${sentence(why)}${printed}`, { cause })
    if (late?.aborted === false) FAILED_AFTER_START.add(error)
    throw error
  }
}

/** Says why a server that was started cannot be used. The client of the SDK does not know how its process ended. */
function whyUnshaken(cause: unknown, { exit }: ServerProcess): string {
  const failed = EnvError.is(cause, 'connection-failed') ? cause.cause : null
  if (failed instanceof McpError) return isLost(failed) ? (exit ?? 'it has closed its pipe') : reasonOf(failed)
  return reasonOf(cause)
}

function introductionOf(elicit: ChannelOptions['elicit']) {
  const capabilities: JsonObject = elicit ? { elicitation: { form: {} } } : {}
  return { clientInfo: { name: 'episodic', version: WIRE_VERSION }, capabilities }
}

/** Gives the client of the SDK the answer to a handshake that was made before, so that it makes no second one. */
function answerHandshake(transport: ServerProcess, result: JsonObject): void {
  const send = transport.send.bind(transport)
  transport.send = async (message) => {
    const { method, id } = message as { readonly method?: string; readonly id?: string | number }
    if (method !== 'initialize') return send(message)
    transport.send = send
    const answer = { jsonrpc: '2.0', id, result }
    queueMicrotask(() => transport.onmessage?.(answer))
  }
}

interface StartOptions {
  /** Seconds for a server to answer for the first time. */
  readonly startSeconds?: number
}

/** A client after the handshake, and the budget for questions of its server. */
interface Handshaken {
  readonly client: Client
  readonly budget: QuestionBudget
}

async function shakeHands(
  transport: ServerProcess | StreamableHTTPClientTransport,
  name: string,
  { signal, onMessage, elicit, questions, startSeconds = START_SECONDS }: ChannelOptions & StartOptions,
): Promise<Handshaken> {
  const budget = new QuestionBudget(questionsAllowed(questions))
  if (onMessage) overhear(transport, onMessage)
  const { clientInfo, capabilities } = introductionOf(elicit)
  const client = new Client(clientInfo, { capabilities })
  if (elicit)
    client.setRequestHandler(ElicitRequestSchema, (asked, { signal }) => {
      budget.count()
      return answerElicitation(elicit, asked.params as JsonObject, signal)
    })
  try {
    await client.connect(transport as Parameters<Client['connect']>[0], {
      timeout: startSeconds * 1_000,
      ...(signal && { signal }),
    })
    return { client, budget }
  } catch (cause) {
    await client.close().catch(() => {})
    signal?.throwIfAborted()
    if (EnvError.is(cause, 'login-failed')) throw cause
    throw new EnvError('connection-failed', `Cannot connect to ${name}: ${reasonOf(cause)}`, { cause })
  }
}

/** Calls `onMessage` for every message of a transport. */
function overhear(
  transport: ServerProcess | StreamableHTTPClientTransport,
  onMessage: NonNullable<ChannelOptions['onMessage']>,
): void {
  const send = transport.send.bind(transport) as (message: unknown, options?: unknown) => Promise<void>
  transport.send = (message: unknown, options?: unknown) => {
    onMessage('sent', message)
    return send(message, options)
  }
  // The client calls this listener before its own.
  transport.onmessage = (message: unknown) => onMessage('received', message)
}

/** Translates an error of the SDK: an error answer keeps its code, anything else means that no answer came. */
function translate(error: unknown, name: string, command: ServerProcess | undefined): Error {
  if (EnvError.is(error)) return error
  if (error instanceof McpError && !isLost(error))
    return refusal({
      code: error.code,
      message: error.message.replace(/^MCP error -?\d+: /, ''),
      data: error.data as JsonObject,
    })
  const details = failureOf(error)
  const ending = details.retryable === false ? command?.exit : null
  const why = command && ending ? `${ending}.${printedBy(command)}` : reasonOf(error)
  return new EnvError('connection-failed', `No answer from ${name}: ${why}`, { cause: error, details })
}

/** Returns the details of a lost call: over HTTP a retry may succeed, but a closed pipe stays closed. */
function failureOf(error: unknown): JsonObject {
  if (error instanceof StreamableHTTPError && error.code !== undefined && error.code >= 400)
    return failureDetails(error.code)
  const closed = error instanceof McpError ? error.code === -32000 : /^Not connected/.test((error as Error).message)
  return { retryable: !closed }
}

/** The SDK's own errors for a closed connection and a call that timed out. */
function isLost({ code, message }: McpError): boolean {
  // Servers refuse with the same codes, in their own words.
  return (code === -32000 && /: Connection closed$/.test(message)) || (code === -32001 && /time(d )?out/.test(message))
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof StreamableHTTPError && error.code !== undefined && error.code >= 400)
    return `it answered with HTTP status ${error.code}${saidIn(error.message)}`
  const { cause } = error
  return cause instanceof Error && cause.message ? `${error.message} (${cause.message})` : error.message
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** Returns the JSON-RPC error message in a response body, which the SDK quotes in its error. */
function saidIn(message: string): string {
  const said = /"message":("(?:[^"\\]|\\.)*")/.exec(message)?.[1]
  return said === undefined ? '.' : `: ${JSON.parse(said)}`
}
