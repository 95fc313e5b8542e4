import { setTimeout as pause } from 'node:timers/promises'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { importNeeded } from '@episodic/run/base/import-needed'
import type { Redis } from 'ioredis'
import type { EndingRedis, LegacyOptions } from './ending-redis.ts'
import { adviseOn } from './queue-advice.ts'
import { QUEUE_KEYS } from './queue-keys.ts'
import { QUEUE_SCRIPTS, type QueueCommands } from './queue-scripts.ts'

export type QueueClient = EndingRedis & QueueCommands

/** What is installed for a queue. A package that BullMQ needs would compile when it is installed. */
export const QUEUE_PACKAGES = 'bullmq@6 ioredis@6 --ignore-scripts'

/** Milliseconds until a first connection is given up. */
const CONNECT_TIMEOUT = 5_000
/**
 * Milliseconds without any answer after which a connection is made anew. Longer than the longest command that waits.
 */
const ANSWER_TIMEOUT = 30_000
/** The longest pause between two attempts to connect again, in milliseconds. */
const RECONNECT_PAUSE = 500
/** Milliseconds without any answer after which a process that ends does not wait for the queue any more. */
const END_TIMEOUT = 5_000
/** Milliseconds between two questions whether the queue is still there for a process that ends. */
const QUESTION_PAUSE = 500

export interface ConnectQueueOptions {
  /** Receives a sentence when Redis stops to answer, when it answers again, and if it is not waited for any more. */
  readonly onNotice: (notice: string) => void
  /**
   * Aborts when the process is to end. From then on, a Redis that gives no answer for 5 seconds, or takes no writes, is
   * not waited for.
   */
  readonly signal?: AbortSignal | undefined
}

function shownAddress(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}

/** Throws `option-invalid` for anything else in its place. */
function databaseOf(url: string): number {
  const { pathname } = new URL(url)
  if (/^\/?\d*$/.test(pathname)) return Number(pathname.slice(1))
  throw invalidOption(
    `--queue ${shownAddress(url)} names no database of a Redis: what follows the port is its number. Give redis://<host>:<port>, or redis://<host>:<port>/<number>.`,
  )
}

/** The variable of the password, so that it is in no list of processes. */
const PASSWORD_VARIABLE = 'EPISODIC_QUEUE_PASSWORD'

function withPassword(url: string): string {
  const password = process.env[PASSWORD_VARIABLE]
  const parsed = new URL(url)
  if (parsed.password === '' && password) parsed.password = encodeURIComponent(password)
  return parsed.href
}

/**
 * Connects to the Redis at `url`, with the password of `EPISODIC_QUEUE_PASSWORD` if the URL has none. From then on the
 * client waits while Redis cannot be reached, reconnects by itself, and sends again what was not answered; it waits as
 * well while Redis takes no writes. Once it is disconnected, what was not answered rejects.
 *
 * Rejects with `option-invalid` if `url` is not the URL of a Redis, and with `queue-unavailable` if none answers there.
 */
export async function connectQueue(url: string, { onNotice, signal }: ConnectQueueOptions): Promise<QueueClient> {
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url))
    throw invalidOption(
      `--queue ${url.replace(/\/\/[^@/]*@/, '//')} is not the URL of a Redis. Give redis://<host>:<port>, or rediss:// for TLS.`,
    )
  const address = shownAddress(url)
  const database = databaseOf(url)
  let isConnected = false
  let lastError: Error | null = null
  // The client is large, and most commands use no Redis.
  const { EndingRedis: Client } = await importNeeded('--queue', QUEUE_PACKAGES, () => import('./ending-redis.ts'))
  const options: LegacyOptions = {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT,
    socketTimeout: ANSWER_TIMEOUT,
    retryStrategy: (attempt) => (isConnected ? Math.min(attempt * 50, RECONNECT_PAUSE) : null),
    // After a failover the address may still lead to a replica. Reconnecting finds the new primary.
    reconnectOnError: ({ message }) => (message.startsWith('READONLY') ? 2 : false),
    // Commands wait for the connection. Every one of them may be sent twice.
    maxRetriesPerRequest: null,
    scripts: QUEUE_SCRIPTS,
  }
  const client = new Client(withPassword(url), options) as QueueClient
  client.on('error', (error: Error & { readonly command?: { readonly name: string } }) => {
    lastError = error
    // After a restart of Redis, too, the client would go on in the first database.
    if (isConnected && error.command?.name === 'select') client.disconnect(true)
  })
  const late = setTimeout(() => client.disconnect(), CONNECT_TIMEOUT)
  try {
    await client.connect()
    // A client to which the database is refused goes on in the first one.
    if (database > 0) await client.select(database)
    // Finds out at once if the user may not run scripts or use these keys.
    await client.eval("return redis.call('DEL', KEYS[1])", 1, QUEUE_KEYS.probe)
  } catch (cause) {
    client.disconnect()
    const { message } = lastError ?? (cause as Error)
    throw new HarnessError(
      'queue-unavailable',
      `No Redis answers at ${address} (${message}). ${adviseOn(message, url)}`,
      { cause },
    )
  } finally {
    clearTimeout(late)
  }
  isConnected = true
  let isAway = false
  client.on('close', () => {
    if (isAway || client.status === 'end') return
    isAway = true
    onNotice(`The queue at ${address} does not answer. Waiting for it.`)
  })
  client.on('ready', () => {
    if (!isAway) return
    isAway = false
    onNotice(`The queue at ${address} answers again.`)
  })
  let isFull = false
  client.on('full', () => {
    if (isFull) return
    isFull = true
    onNotice(`The Redis of the queue at ${address} takes no writes: its memory or its disk is full. Waiting for it.`)
  })
  client.on('writable', () => {
    if (!isFull) return
    isFull = false
    onNotice(`The Redis of the queue at ${address} takes writes again.`)
  })
  const end = () => {
    client.stopWaitingToWrite()
    return disconnectIfSilent(client, () =>
      onNotice(
        `The queue at ${address} does not answer, so this process ends without it. What it had of the queue is free again after its lease, and no result is lost.`,
      ),
    )
  }
  if (signal?.aborted) void end()
  else signal?.addEventListener('abort', end, { once: true })
  return client
}

/** Disconnects a client as soon as it gets no answer for a while, until it has ended. */
async function disconnectIfSilent(client: Redis, onSilent: () => void): Promise<void> {
  while (client.status !== 'end') {
    const answered = client.ping().then(
      () => true,
      () => true,
    )
    if (!(await Promise.race([answered, pause(END_TIMEOUT, false, { ref: false })]))) {
      onSilent()
      client.disconnect()
      return
    }
    await pause(QUESTION_PAUSE, null, { ref: false })
  }
}

/**
 * Checks how a Redis is configured. Rejects with `option-invalid` if it may evict the keys of the queue, and reports to
 * `onNotice` if it keeps nothing on disk. A Redis that does not let its configuration be read is not checked.
 */
export async function checkPersistence(client: QueueClient, url: string, onNotice: (notice: string) => void) {
  const address = shownAddress(url)
  const config = async (name: string) => {
    const [, value = ''] = (await client.config('GET', name).catch(() => [])) as string[]
    return value
  }
  const [policy, appendOnly, save] = [
    await config('maxmemory-policy'),
    await config('appendonly'),
    await config('save'),
  ]
  if (policy !== '' && policy !== 'noeviction')
    throw invalidOption(
      `The Redis at ${address} may remove keys when its memory is full (maxmemory-policy ${policy}), and a queue must lose none. Set it to noeviction, or give another --queue.`,
    )
  if (appendOnly === 'no' && save === '')
    onNotice(
      `The Redis at ${address} keeps nothing on disk. If it ends, results that it holds are lost, and their episodes are played again. Start it with --appendonly yes.`,
    )
}
