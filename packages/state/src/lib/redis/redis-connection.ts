import type { Redis } from 'ioredis'
import { StateError } from '../state-error.ts'
import { formatAddress, redisFault } from './redis-fault.ts'
import { REDIS_SCRIPTS, type RedisScripts } from './redis-scripts.ts'

export type RedisClient = Redis & RedisScripts

/** The longest pause between two attempts to connect again, in milliseconds. */
const RECONNECT_PAUSE = 250

/**
 * One connection to a Redis, which reconnects by itself.
 *
 * A command is never sent twice: a commit could be applied twice, or find its own write and take it for another
 * client's. If its answer is lost with the connection, it fails at once, and the caller's retry settles it. Nothing is
 * sent while the connection is down; a call then waits for it until the timeout.
 */
export class RedisConnection implements AsyncDisposable {
  readonly #address: string
  readonly #client: RedisClient
  readonly #timeout: number
  #lastError: unknown = null
  /** Why it may not have its database; `null` while it has it. */
  #refusal: Error | null = null
  #ready: Promise<void> | null = null
  #hasConnected = false
  #open = true

  /** `timeout` is in milliseconds, for connecting and again for each answer. */
  constructor(Client: typeof Redis, url: string, timeout: number) {
    this.#address = formatAddress(url)
    this.#timeout = timeout
    this.#client = new Client(url, {
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
    this.#client.on('error', (error: Error & { readonly command?: { readonly name: string } }) => {
      // The client would go on in database 0 if it may not have its own, at its start and after a restart of Redis.
      const isRefused = error.command?.name === 'select'
      if (isRefused) this.#refusal = error
      this.#lastError = this.#refusal ?? error
      if (isRefused) this.#client.disconnect(this.#hasConnected)
    })
    this.#client.on('ready', () => {
      this.#refusal = null
    })
  }

  async connect(): Promise<void> {
    try {
      await this.#client.connect()
      this.#hasConnected = true
    } catch (cause) {
      this.#close()
      throw redisFault(this.#address, this.#lastError ?? cause)
    }
  }

  async run<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    if (!this.#open) throw this.#closed()
    if (!this.#isReady) await this.#untilReady()
    try {
      return await command(this.#client)
    } catch (cause) {
      throw redisFault(this.#address, cause)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#open) return
    this.#open = false
    // `quit` is queued behind the pending commands, so all of them are answered.
    if (this.#isReady) await this.#client.quit().catch(() => {})
    this.#close()
  }

  /** The client reports a lost connection as ready until it notices the loss. */
  get #isReady(): boolean {
    return this.#client.status === 'ready' && this.#client.stream.writable
  }

  #close(): void {
    this.#open = false
    this.#client.disconnect()
  }

  #closed(): StateError {
    return new StateError('store-unavailable', `The store at ${this.#address} is closed.`)
  }

  #untilReady(): Promise<void> {
    this.#ready ??= new Promise<void>((resolve, reject) => {
      const settle = (outcome: () => void) => {
        clearTimeout(timer)
        this.#client.off('ready', onReady).off('end', onEnd)
        this.#ready = null
        outcome()
      }
      const fail = (cause: unknown) => settle(() => reject(redisFault(this.#address, cause)))
      const onReady = () => settle(resolve)
      const onEnd = () => fail(this.#closed())
      const timer = setTimeout(
        () => fail(this.#lastError ?? new Error(`no connection within ${this.#timeout} ms`)),
        this.#timeout,
      )
      this.#client.once('ready', onReady).once('end', onEnd)
    })
    return this.#ready
  }
}
