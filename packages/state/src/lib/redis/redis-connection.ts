import { Redis } from 'ioredis'
import { StateError } from '../state-error.ts'
import { describeAddress, redisFault } from './redis-fault.ts'
import { REDIS_SCRIPTS, type RedisScripts } from './redis-scripts.ts'

export type RedisClient = Redis & RedisScripts

/** The longest pause between two attempts to connect again, in milliseconds. */
const RECONNECT_PAUSE = 250

/**
 * One connection to a Redis, which comes back by itself.
 *
 * A command is sent once and never again: sent twice, a commit could be applied twice, or find what it wrote itself and
 * take it for somebody else's. Where its answer is lost with the connection, it fails at once, and the caller's retry
 * settles it. Nothing is sent while the connection is down; who calls then waits for it, for as long as the timeout says.
 */
export class RedisConnection implements AsyncDisposable {
  readonly #address: string
  readonly #client: RedisClient
  readonly #timeout: number
  #lastError: unknown = null
  #ready: Promise<void> | null = null
  #open = true

  /** `timeout` is in milliseconds: for a connection, and again for an answer. */
  constructor(url: string, timeout: number) {
    this.#address = describeAddress(url)
    this.#timeout = timeout
    this.#client = new Redis(url, {
      lazyConnect: true,
      connectTimeout: timeout,
      // Silence on a connection with commands under way: what hangs is cut off, and its commands fail together.
      socketTimeout: timeout,
      retryStrategy: (attempt) => Math.min(attempt * 20, RECONNECT_PAUSE),
      // After a failover the address may lead to what is a replica now. Connecting again finds the new primary.
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      scripts: REDIS_SCRIPTS,
    }) as RedisClient
    this.#client.on('error', (error) => {
      this.#lastError = error
    })
  }

  /** Connects for the first time. Rejects with `store-unavailable` where that fails; the connection is then disposed of. */
  async connect(): Promise<void> {
    try {
      await this.#client.connect()
    } catch (cause) {
      this.#close()
      throw redisFault(this.#address, this.#lastError ?? cause)
    }
  }

  /** Sends a command, once the connection is there. Rejects with a {@link StateError} whatever goes wrong. */
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
    // Asks for the end of the connection behind whatever is under way, so that all of it is answered.
    if (this.#isReady) await this.#client.quit().catch(() => {})
    this.#close()
  }

  /** A connection that was lost looks ready until the client has heard of it. */
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

  /** Waits for the connection together with all who wait for it. */
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
