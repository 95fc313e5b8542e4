import { type Readable, Writable } from 'node:stream'
import { WireError } from '@episodic/protocol'
import { namedEnvironment } from '../dispatch/agent-call.ts'
import { ClientChannel } from '../dispatch/client-channel.ts'
import { createDispatcher, type DispatcherOptions, type DispatchOptions } from '../dispatch/dispatcher.ts'
import type { Message } from '../dispatch/message.ts'
import type { Caller } from '../host/access/caller.ts'
import type { Host } from '../host/host.ts'
import { GatheredBytes } from '../transport/byte-buffer.ts'
import { drained } from '../transport/drain.ts'
import { MessagePipe, type ReceivedMessage } from '../transport/message-pipe.ts'

export interface StdioOptions extends DispatcherOptions {
  /** Which endpoint the pipe serves. Default `agent`. */
  readonly endpoint?: 'agent' | 'trainer'
  /** Which environment an agent plays. Default: the host's first. */
  readonly environment?: string
  readonly input?: Readable
  readonly output?: Writable
  /** Longest message in bytes. Default 1 MiB. */
  readonly lineBytes?: number
  /** Requests of a trainer that are read ahead of their answers; an agent's are answered in turn. Default 256. */
  readonly inFlight?: number
  /** Stops reading when it is aborted: what was read is answered, waits of `watch` end, and `serveStdio` resolves. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Serves a host over newline-framed JSON-RPC, by default on this process's own pipes, and resolves when the other end
 * hangs up and every request that was read is answered.
 *
 * On the process's own pipes it reserves standard output: other output goes to standard error, so that a stray
 * `console.log` of an environment cannot break the framing.
 *
 * Sessions of an environment with a handle are created and named by calls, in every version of MCP. Without a handle
 * the pipe has one session: it opens with the first call, and `initialize` starts a new one.
 */
export async function serveStdio(host: Host, options: StdioOptions = {}): Promise<void> {
  const { input = process.stdin, output = takeStandardOutput(), lineBytes = 1_048_576, signal } = options
  // An agent's calls have an order, even if it sends one before the last is answered.
  const inFlight = options.endpoint === 'trainer' ? (options.inFlight ?? 256) : 1
  const dispatcher = createDispatcher(host, options)
  const channel = new ClientChannel({ say: (text) => pipe.say(text) })
  const callerOf = createCallers(host, options, () => channel.forget())
  const lines = new LineSplitter(lineBytes)
  // If the reader goes away, the end of the input follows and ends the loop.
  output.on('error', () => {})
  const pipe: MessagePipe = new MessagePipe({
    dispatcher,
    inFlight,
    answer: async (message) => dispatcher.dispatch(await callerOf(message), message, dispatchOptions),
    // For a client that does not read its answers, no further calls are made, so that answers do not pile up.
    write(answers) {
      if (output.writable) output.write(`${answers.join('\n')}\n`)
      return output.writableNeedDrain ? drained(output) : undefined
    },
  })
  const dispatchOptions: DispatchOptions = {
    signal,
    channel: () => channel,
    say: (text: string) => void pipe.say(text),
  }
  for await (const chunk of untilAborted(input, signal)) {
    for (const line of lines.split(chunk)) pipe.receive(line)
    await pipe.caughtUp()
  }
  await pipe.finished()
  await channel.shutDown()
}

/**
 * Returns a function that resolves with the caller of a message: one for the whole pipe, whose session opens with the
 * first message that needs it. `onAnew` is called when `initialize` starts a new session.
 */
function createCallers(host: Host, options: StdioOptions, onAnew: () => void): (message: Message) => Promise<Caller> {
  if (options.endpoint === 'trainer') return async () => ({ endpoint: 'trainer', principal: null })
  const { name: environment, handle } = namedEnvironment(
    host,
    options.environment ?? (host.environments[0] as { name: string }).name,
  )
  let transportId: string | null = null
  let begun = false
  return async ({ method }) => {
    if (method === 'initialize') onAnew()
    if (handle !== undefined)
      return { endpoint: 'agent', principal: null, address: { by: 'argument', token: null, environment } }
    if (method === 'initialize' || transportId === null) {
      transportId = await host.connections.issue(null)
      begun = false
    }
    // An id that opens no session expires, and a pipe may be idle before its first call. Until then each message renews
    // the id, and with its random part the seed.
    else if (!begun) transportId = await host.connections.issue(null, transportId)
    if (OF_A_SESSION.has(method)) begun = true
    return { endpoint: 'agent', principal: null, address: { by: 'transport', token: transportId, environment } }
  }
}

const OF_A_SESSION = new Set(['tools/call', 'resources/read', 'resources/subscribe'])

async function* untilAborted(input: Readable, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const hangUp = () => input.destroy()
  if (signal?.aborted) return hangUp()
  signal?.addEventListener('abort', hangUp, { once: true })
  try {
    yield* input
  } catch (cause) {
    if (!signal?.aborted) throw cause
  } finally {
    signal?.removeEventListener('abort', hangUp)
  }
}

function takeStandardOutput(): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  stdout.on('error', () => {})
  return new Writable({ decodeStrings: false, write: (text: string, _, done) => void write(text, done) })
}

/**
 * Splits a byte stream into lines, in constant memory.
 *
 * A line longer than `limit` bytes is skipped to its end and reported with one error, so that the stream stays in step
 * with its writer. Blank lines, and bytes after the last line break, are not messages.
 */
class LineSplitter {
  readonly #limit: number
  readonly #held = new GatheredBytes()
  #length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Yields the lines that end in this chunk. Has to be read to its end before the next chunk is split. */
  *split(chunk: Buffer): Generator<ReceivedMessage> {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end))
      start = end + 1
      const line = this.#take()
      if (line !== '') yield line
    }
    if (start < chunk.length) this.#add(chunk.subarray(start))
  }

  #add(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > this.#limit) this.#held.clear()
    else this.#held.add(piece)
  }

  #take(): ReceivedMessage {
    const limit = this.#limit
    const tooLong = this.#length > limit
    this.#length = 0
    if (tooLong)
      return new WireError('too-large', `The message is longer than the limit of ${limit} bytes.`, {
        details: { limit },
      })
    try {
      return this.#held.takeText().trim()
    } catch (cause) {
      return new WireError('invalid-request', 'The message is not UTF-8.', { cause })
    }
  }
}

const NEWLINE = 0x0a
