import type { Channel, JsonObject } from '@episodic/protocol'
import { abortable } from '@episodic/protocol/internal'
import { McpError } from '../mcp-error.ts'
import type { WaitOptions } from '../target.ts'
import {
  createMultiplexedConnection,
  type MultiplexedConnection,
  type MultiplexedOptions,
} from './multiplexed-connection.ts'
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
  const channel = createMultiplexedChannel(open, options)
  try {
    await abortable(channel.connect(), options.signal)
    return channel
  } catch (error) {
    await channel.close()
    throw error
  }
}

function createMultiplexedChannel(open: OpenWire, options: MultiplexedOptions) {
  let current: MultiplexedConnection | null = null
  let connecting: Promise<MultiplexedConnection> | null = null
  let closed = false
  return {
    async request(method: string, params: JsonObject, { signal }: WaitOptions = {}): Promise<unknown> {
      signal?.throwIfAborted()
      const line = current ?? (await abortable(connect(), signal))
      const answer = line.ask(method, params)
      return signal ? abortable(answer, signal) : answer
    },
    connect,
    async close(): Promise<void> {
      closed = true
      current?.end(closedError(options.name))
      await connecting?.catch(() => {})
    },
  }

  /** Resolves with the new connection, which concurrent callers share. */
  function connect(): Promise<MultiplexedConnection> {
    if (closed) return Promise.reject(closedError(options.name))
    connecting ??= reconnect().finally(() => {
      connecting = null
    })
    return connecting
  }

  async function reconnect(): Promise<MultiplexedConnection> {
    const line: MultiplexedConnection = createMultiplexedConnection(options, () => {
      if (current === line) current = null
    })
    await line.open(open)
    if (closed) line.end(closedError(options.name))
    else current = line
    return line
  }
}

function closedError(name: string): McpError {
  return new McpError('lost', `The connection to ${name} is closed. Open another one.`, {
    details: { retryable: false },
  })
}
