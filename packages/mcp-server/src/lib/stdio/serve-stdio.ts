import { type Readable, Writable } from 'node:stream'
import { isObject } from '@episodic/protocol/extend'
import { namedEnvironment } from '../dispatch/agent-call.ts'
import { ClientChannel } from '../dispatch/client-channel.ts'
import { createDispatcher, type DispatcherOptions, type DispatchOptions } from '../dispatch/dispatcher.ts'
import type { Caller } from '../host/caller.ts'
import type { Host } from '../host/host.ts'
import { drained } from '../transport/drain.ts'
import { LineSplitter } from '../transport/lines.ts'
import { MessagePipe } from '../transport/message-pipe.ts'

export interface StdioOptions extends DispatcherOptions {
  /** The endpoint that the pipe is. Default `agent`. */
  readonly endpoint?: 'agent' | 'trainer'
  /** Which environment an agent plays. Default: the host's first. */
  readonly environment?: string
  readonly input?: Readable
  readonly output?: Writable
  /** Longest message in bytes. Default 1 MiB. */
  readonly lineBytes?: number
  /** Requests of the trainer endpoint that are read ahead of their answers; an agent's are answered in turn. Default 256. */
  readonly inFlight?: number
  /** Stops reading when it is aborted: what was read is answered, waits of `watch` end, and `serveStdio` resolves. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Serves a host over newline-framed JSON-RPC, by default on this process's own pipes, and resolves when the other
 * end hangs up and every request that was read is answered.
 *
 * On its own pipes it takes standard output for itself: whatever else writes there goes to standard error, so that
 * a stray `console.log` of an environment cannot break the framing.
 *
 * An environment with a handle is played by sessions that calls create and name, in every version of MCP. Without one the
 * pipe is the session: its world opens at the first call, and `initialize` starts anew.
 */
export async function serveStdio(host: Host, options: StdioOptions = {}): Promise<void> {
  const { input = process.stdin, output = takeStandardOutput(), lineBytes = 1_048_576, signal } = options
  // An agent that sends a call before the last one is answered means them in that order.
  const inFlight = options.endpoint === 'trainer' ? (options.inFlight ?? 256) : 1
  const dispatcher = createDispatcher(host, options)
  const channel = new ClientChannel({ say: (text) => conversation.say(text) })
  const callerOf = createCallers(host, options, () => channel.forget())
  const lines = new LineSplitter(lineBytes)
  // A reader that went away takes its pipe with it; the end of input follows and ends the loop.
  output.on('error', () => {})
  const conversation: MessagePipe = new MessagePipe({
    dispatcher,
    inFlight,
    answer: async (message) => dispatcher.dispatch(await callerOf(message), message, dispatchOptions),
    // Whoever does not read answers gets no more of them, and nothing piles up here.
    write(answers) {
      if (output.writable) output.write(`${answers.join('\n')}\n`)
      return output.writableNeedDrain ? drained(output) : undefined
    },
  })
  const dispatchOptions: DispatchOptions = {
    signal,
    channel: () => channel,
    say: (text: string) => void conversation.say(text),
  }
  for await (const chunk of untilAborted(input, signal)) {
    for (const line of lines.split(chunk)) conversation.hear(line)
    await conversation.caughtUp()
  }
  await conversation.finished()
  await channel.shutDown()
}

/**
 * Says who sends a message: one caller for the whole pipe, whose world is as old as the first call or look at it. `onAnew`
 * hears when it starts over.
 */
function createCallers(host: Host, options: StdioOptions, onAnew: () => void): (message: unknown) => Promise<Caller> {
  if (options.endpoint === 'trainer') return async () => ({ endpoint: 'trainer', principal: null })
  const { name: environment, handle } = namedEnvironment(
    host,
    options.environment ?? (host.environments[0] as { name: string }).name,
  )
  let transportId: string | null = null
  let begun = false
  return async (message) => {
    const method = isObject(message) ? message.method : undefined
    if (method === 'initialize') onAnew()
    if (handle !== undefined)
      return { endpoint: 'agent', principal: null, address: { by: 'argument', token: null, environment } }
    if (method === 'initialize' || transportId === null) {
      transportId = await host.connections.issue(null)
      begun = false
    }
    // An id expires that opens no session for long, and a pipe may well be idle before its first call: until then each message
    // renews it, and with its random part its seed.
    else if (!begun) transportId = await host.connections.issue(null, transportId)
    if (OF_A_SESSION.has(method)) begun = true
    return { endpoint: 'agent', principal: null, address: { by: 'transport', token: transportId, environment } }
  }
}

/** What is asked of a session, which begins with the first of them. */
const OF_A_SESSION = new Set<unknown>(['tools/call', 'resources/read', 'resources/subscribe'])

/** The chunks of a stream; after an abort there are no more, and the stream is let go of. */
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
