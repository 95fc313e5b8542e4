import { type JsonObject, WireError } from '@episodic/protocol'
import { afterThisTurn, every } from '@episodic/protocol/internal'
import { CLIENT } from '../calls/modern-request.ts'
import { createPendingCalls, TICK } from '../calls/pending-calls.ts'
import { parseAnswer } from '../calls/rpc-answer.ts'
import { McpError, noAnswer } from '../mcp-error.ts'
import type { ChannelOptions } from '../target.ts'
import type { OpenWire, Wire, WireClosing } from './wire.ts'

export interface MultiplexedOptions extends Pick<ChannelOptions, 'onMessage'> {
  readonly name: string
}

/** The most sent calls without an answer; further calls wait. Equal to the bound of our servers. */
const IN_FLIGHT = 256
/** Milliseconds until a call without an answer fails. */
const CALL_TIMEOUT = 120_000
const PROTOCOL_VERSION = '2025-11-25'

export type MultiplexedConnection = ReturnType<typeof createMultiplexedConnection>

/** One connection of a channel. It does not reconnect. */
export function createMultiplexedConnection(options: MultiplexedOptions, onEnd: () => void) {
  const outbox: string[] = []
  let writing = false
  let wire: Wire | null = null
  /** Why the connection ended; `null` while it is open. */
  let lost: McpError | null = null
  const write = (): void => {
    writing = false
    const waiting = outbox.length
    const room = IN_FLIGHT - (calls.size - waiting)
    if (lost || waiting === 0 || room <= 0) return
    wire?.send(outbox.splice(0, room))
  }
  const calls = createPendingCalls(options.name, CALL_TIMEOUT)
  const stopTicking: () => void = every(TICK, () => {
    if (!calls.tick()) end(noAnswer('lost', options.name, { why: 'it does not answer any more' }))
  })
  return {
    /** Connects and performs the handshake. Rejects with `lost`. */
    async open(open: OpenWire): Promise<void> {
      const { name } = options
      try {
        wire = await open({ onMessage: (text) => receive(text), onClose: (closing) => lose(closing) })
        await ask('initialize', { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: CLIENT })
        notify('notifications/initialized')
      } catch (cause) {
        const error = WireError.is(cause)
          ? new McpError('refused', `Cannot connect to ${name}: ${cause.message}`, {
              cause,
              details: { retryable: cause.code === 'store-unavailable' },
            })
          : (cause as McpError)
        end(error)
        throw error
      }
    },
    ask,
    end,
  }

  async function ask(method: string, params: JsonObject): Promise<unknown> {
    if (lost) throw lost
    const { id, answer } = calls.add(method)
    const message = { jsonrpc: '2.0', id, method, params }
    options.onMessage?.('sent', message)
    const text = JSON.stringify(message)
    calls.measure(id, text)
    outbox.push(text)
    writeSoon()
    return answer
  }

  function end(error: McpError): void {
    if (lost) return
    lost = error
    stopTicking()
    onEnd()
    calls.rejectAll(error)
    wire?.close()
  }

  function notify(method: string): void {
    const message = { jsonrpc: '2.0', method }
    options.onMessage?.('sent', message)
    wire?.send([JSON.stringify(message)])
  }

  function writeSoon(): void {
    if (writing) return
    writing = true
    afterThisTurn(write)
  }

  function receive(text: string): void {
    const message = parseAnswer(text)
    options.onMessage?.('received', message ?? text)
    if (!message || !calls.settle(message)) {
      const why = `${options.name} sent an invalid message: ${text.slice(0, 200)}`
      end(new McpError('lost', why))
    }
    if (outbox.length > 0) writeSoon()
  }

  function lose({ error, tooLarge }: WireClosing): void {
    if (tooLarge) calls.rejectLargest(new WireError('too-large', `The message is larger than ${options.name} takes.`))
    end(error)
  }
}
