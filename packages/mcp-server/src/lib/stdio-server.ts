import type { Readable, Writable } from 'node:stream'
import { WireError } from '@episodic/protocol'
import { namedEnvironment } from './agent-requests.ts'
import type { Caller } from './caller.ts'
import { createDispatcher, type DispatcherOptions, type Reply } from './dispatcher.ts'
import type { Host } from './host.ts'
import { splitLines } from './stdio-lines.ts'

export interface StdioOptions extends DispatcherOptions {
  /** Which door the pipe is. Default `agent`: whoever starts the process chooses. */
  readonly door?: 'agent' | 'trusted'
  /** Which environment an agent plays. Default: the host's first. */
  readonly environment?: string
  readonly input?: Readable
  readonly output?: Writable
  /** Longest message in bytes. Default 1 MiB. */
  readonly lineBytes?: number
}

/**
 * Serves a host over newline-framed JSON-RPC, by default on this process's own pipes, and resolves when the other
 * end hangs up and every request that was read is answered.
 *
 * On its own pipes it takes standard output for itself: whatever else writes there goes to standard error, so that
 * a stray `console.log` of an environment cannot break the framing.
 */
export async function serveStdio(host: Host, options: StdioOptions = {}): Promise<void> {
  const { door = 'agent', input = process.stdin, output = takeStandardOutput(), lineBytes = 1_048_576 } = options
  const dispatcher = createDispatcher(host, options)
  const caller: Caller =
    door === 'trusted'
      ? { door, principal: null }
      : {
          door,
          principal: null,
          world: {
            by: 'transport',
            transportId: await host.issueTransport(),
            environment: namedEnvironment(host, options.environment ?? (host.environments[0]?.name as string)).name,
          },
        }
  const pending = new Set<Promise<void>>()
  const send = ({ text }: Reply) => {
    if (text !== null) output.write(`${text}\n`)
  }
  // A reader that went away takes its pipe with it; the end of input follows and ends the loop.
  output.on('error', () => {})
  for await (const line of splitLines(input, lineBytes)) {
    if (line.kind === 'too-long') {
      send(dispatcher.refuse(new WireError('too-large', `The message is longer than the limit of ${lineBytes} bytes.`)))
      continue
    }
    if (line.text.trim() === '') continue
    const message = parse(line.text)
    if (message === undefined) {
      send(dispatcher.refuse(new WireError('parse-error', 'The line is not JSON.')))
      continue
    }
    const answered = dispatcher.dispatch(caller, message).then(send)
    pending.add(answered)
    answered.finally(() => pending.delete(answered))
  }
  await Promise.all(pending)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function takeStandardOutput(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  const output = Object.create(process.stdout, { write: { value: write } }) as Writable
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write
  return output
}
