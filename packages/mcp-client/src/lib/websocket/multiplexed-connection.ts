import { type JsonObject, WireError } from '@episodic/protocol'
import { afterThisTurn, every } from '@episodic/protocol/internal'
import { CLIENT } from '../calls/modern-request.ts'
import { PendingCalls, TICK } from '../calls/pending-calls.ts'
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
/** The MCP version of the handshake. */
const PROTOCOL_VERSION = '2025-11-25'

/** One connection of a channel. It does not reconnect. */
export class MultiplexedConnection {
  readonly #options: MultiplexedOptions
  readonly #onEnd: () => void
  readonly #calls: PendingCalls
  readonly #stopTicking: () => void
  /** Messages to send. */
  readonly #outbox: string[] = []
  /** Whether a write is scheduled. */
  #writing = false
  #wire: Wire | null = null
  /** Why the connection ended; `null` while it is open. */
  #lost: McpError | null = null

  constructor(options: MultiplexedOptions, onEnd: () => void) {
    this.#options = options
    this.#onEnd = onEnd
    this.#calls = new PendingCalls(options.name, CALL_TIMEOUT)
    this.#stopTicking = every(TICK, () => {
      if (!this.#calls.tick()) this.end(noAnswer('lost', options.name, { why: 'it does not answer any more' }))
    })
  }

  /** Connects and performs the handshake. Rejects with `lost`. */
  async open(open: OpenWire): Promise<void> {
    const { name } = this.#options
    try {
      this.#wire = await open({ onMessage: (text) => this.#receive(text), onClose: (closing) => this.#lose(closing) })
      await this.ask('initialize', { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: CLIENT })
      this.#notify('notifications/initialized')
    } catch (cause) {
      const error = WireError.is(cause)
        ? new McpError('refused', `Cannot connect to ${name}: ${cause.message}`, {
            cause,
            details: { retryable: cause.code === 'store-unavailable' },
          })
        : (cause as McpError)
      this.end(error)
      throw error
    }
  }

  async ask(method: string, params: JsonObject): Promise<unknown> {
    if (this.#lost) throw this.#lost
    const { id, answer } = this.#calls.add(method)
    const message = { jsonrpc: '2.0', id, method, params }
    this.#options.onMessage?.('sent', message)
    const text = JSON.stringify(message)
    this.#calls.measure(id, text)
    this.#outbox.push(text)
    this.#writeSoon()
    return answer
  }

  end(error: McpError): void {
    if (this.#lost) return
    this.#lost = error
    this.#stopTicking()
    this.#onEnd()
    this.#calls.rejectAll(error)
    this.#wire?.close()
  }

  #notify(method: string): void {
    const message = { jsonrpc: '2.0', method }
    this.#options.onMessage?.('sent', message)
    this.#wire?.send([JSON.stringify(message)])
  }

  #writeSoon(): void {
    if (this.#writing) return
    this.#writing = true
    afterThisTurn(this.#write)
  }

  readonly #write = (): void => {
    this.#writing = false
    const waiting = this.#outbox.length
    const room = IN_FLIGHT - (this.#calls.size - waiting)
    if (this.#lost || waiting === 0 || room <= 0) return
    this.#wire?.send(this.#outbox.splice(0, room))
  }

  #receive(text: string): void {
    const message = parseAnswer(text)
    this.#options.onMessage?.('received', message ?? text)
    if (!message || !this.#calls.settle(message)) {
      const why = `${this.#options.name} sent an invalid message: ${text.slice(0, 200)}`
      this.end(new McpError('lost', why))
    }
    if (this.#outbox.length > 0) this.#writeSoon()
  }

  #lose({ error, tooLarge }: WireClosing): void {
    if (tooLarge)
      this.#calls.rejectLargest(new WireError('too-large', `The message is larger than ${this.#options.name} takes.`))
    this.end(error)
  }
}
