import type { Channel, JsonObject } from '@episodic/protocol'
import { abortable } from '@episodic/protocol/internal'
import { McpError } from '../mcp-error.ts'
import type { WaitOptions } from '../target.ts'
import { MultiplexedConnection, type MultiplexedOptions } from './multiplexed-connection.ts'
import type { OpenWire } from './wire.ts'

/**
 * Opens a channel that carries any number of concurrent calls over one connection.
 *
 * Calls made in one turn of the event loop are written together. When the connection is lost, its pending calls reject
 * with `lost`, and the next call connects again. Rejects with `lost` if it cannot connect.
 */
export async function openMultiplexedChannel(
  open: OpenWire,
  options: MultiplexedOptions & WaitOptions,
): Promise<Channel> {
  options.signal?.throwIfAborted()
  const channel = new MultiplexedChannel(open, options)
  try {
    await abortable(channel.connect(), options.signal)
    return channel
  } catch (error) {
    await channel.close()
    throw error
  }
}

class MultiplexedChannel implements Channel {
  readonly #open: OpenWire
  readonly #options: MultiplexedOptions
  #line: MultiplexedConnection | null = null
  #connecting: Promise<MultiplexedConnection> | null = null
  #closed = false

  constructor(open: OpenWire, options: MultiplexedOptions) {
    this.#open = open
    this.#options = options
  }

  async request(method: string, params: JsonObject, { signal }: WaitOptions = {}): Promise<unknown> {
    signal?.throwIfAborted()
    const line = this.#line ?? (await abortable(this.connect(), signal))
    const answer = line.ask(method, params)
    return signal ? abortable(answer, signal) : answer
  }

  /** Resolves with the new connection, which concurrent callers share. */
  connect(): Promise<MultiplexedConnection> {
    if (this.#closed) return Promise.reject(closedError(this.#options.name))
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null
    })
    return this.#connecting
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#line?.end(closedError(this.#options.name))
    await this.#connecting?.catch(() => {})
  }

  async #connect(): Promise<MultiplexedConnection> {
    const line: MultiplexedConnection = new MultiplexedConnection(this.#options, () => {
      if (this.#line === line) this.#line = null
    })
    await line.open(this.#open)
    if (this.#closed) line.end(closedError(this.#options.name))
    else this.#line = line
    return line
  }
}

function closedError(name: string): McpError {
  return new McpError('lost', `The connection to ${name} is closed. Open another one.`, {
    details: { retryable: false },
  })
}
