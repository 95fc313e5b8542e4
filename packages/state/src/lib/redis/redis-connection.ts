import type { Redis } from 'ioredis'
import { StateError } from '../state-error.ts'
import { formatAddress, redisFault } from './redis-fault.ts'
import { REDIS_SCRIPTS, type RedisScripts } from './redis-scripts.ts'

export type RedisClient = Redis & RedisScripts

/** The longest pause between two attempts to connect again, in milliseconds. */
const RECONNECT_PAUSE = 250

export type RedisConnection = ReturnType<typeof createRedisConnection>

/**
 * One connection to a Redis, which reconnects by itself.
 *
 * A command is never sent twice: a commit could be applied twice, or find its own write and take it for another
 * client's. If its answer is lost with the connection, it fails at once, and the caller's retry settles it. Nothing is
 * sent while the connection is down; a call then waits for it until the timeout.
 *
 * `timeout` is in milliseconds, for connecting and again for each answer.
 */
export function createRedisConnection(Client: typeof Redis, url: string, timeout: number) {
  let lastError: unknown = null
  /** Why it may not have its database; `null` while it has it. */
  let refusal: Error | null = null
  let ready: Promise<void> | null = null
  let hasConnected = false
  let open = true
  const address = formatAddress(url)
  const client: RedisClient = new Client(url, {
    lazyConnect: true,
    connectTimeout: timeout,
    // A server that does not answer is disconnected, and all its pending commands fail together.
    socketTimeout: timeout,
    retryStrategy: (attempt) => Math.min(attempt * 20, RECONNECT_PAUSE),
    // After a failover the address may still lead to a replica. Reconnecting finds the new primary.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    scripts: REDIS_SCRIPTS,
  }) as RedisClient
  client.on('error', (error: Error & { readonly command?: { readonly name: string } }) => {
    // The client would go on in database 0 if it may not have its own, at its start and after a restart of Redis.
    const isRefused = error.command?.name === 'select'
    if (isRefused) refusal = error
    lastError = refusal ?? error
    if (isRefused) client.disconnect(hasConnected)
  })
  client.on('ready', () => {
    refusal = null
  })
  return {
    async connect(): Promise<void> {
      try {
        await client.connect()
        hasConnected = true
      } catch (cause) {
        close()
        throw redisFault(address, lastError ?? cause)
      }
    },
    async run<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
      if (!open) throw closed()
      if (!isReady()) await untilReady()
      try {
        return await command(client)
      } catch (cause) {
        throw redisFault(address, cause)
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      if (!open) return
      open = false
      // `quit` is queued behind the pending commands, so all of them are answered.
      if (isReady()) await client.quit().catch(() => {})
      close()
    },
  }

  /** The client reports a lost connection as ready until it notices the loss. */
  function isReady(): boolean {
    return client.status === 'ready' && client.stream.writable
  }

  function close(): void {
    open = false
    client.disconnect()
  }

  function closed(): StateError {
    return new StateError('store-unavailable', `The store at ${address} is closed.`)
  }

  function untilReady(): Promise<void> {
    ready ??= new Promise<void>((resolve, reject) => {
      const settle = (outcome: () => void) => {
        clearTimeout(timer)
        client.off('ready', onReady).off('end', onEnd)
        ready = null
        outcome()
      }
      const fail = (cause: unknown) => settle(() => reject(redisFault(address, cause)))
      const onReady = () => settle(resolve)
      const onEnd = () => fail(closed())
      const timer = setTimeout(() => fail(lastError ?? new Error(`no connection within ${timeout} ms`)), timeout)
      client.once('ready', onReady).once('end', onEnd)
    })
    return ready
  }
}
