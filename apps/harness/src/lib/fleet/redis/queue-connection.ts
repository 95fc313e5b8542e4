import { Redis, type RedisOptions } from 'ioredis'
import { HarnessError } from '../../harness-error.ts'
import { adviseOn } from './queue-advice.ts'
import { QUEUE_KEYS } from './queue-keys.ts'
import { QUEUE_SCRIPTS, type QueueCommands } from './queue-scripts.ts'

export type QueueClient = Redis & QueueCommands

/** Milliseconds until a first connection is given up. */
const CONNECT_TIMEOUT = 5_000
/** Milliseconds without any answer after which a connection is made anew. Longer than the longest command that waits. */
const ANSWER_TIMEOUT = 30_000
/** The longest pause between two attempts to connect again, in milliseconds. */
const RECONNECT_PAUSE = 500

/** Returns a Redis address for messages, without user and password. */
function shownAddress(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}

/** The variable of the password, so that it is in no list of processes. */
const PASSWORD_VARIABLE = 'EPISODIC_QUEUE_PASSWORD'

/** Returns the URL with the password of the environment, unless it has one of its own. */
function withPassword(url: string): string {
  const password = process.env[PASSWORD_VARIABLE]
  const parsed = new URL(url)
  if (parsed.password === '' && password) parsed.password = encodeURIComponent(password)
  return parsed.href
}

/**
 * Connects to the Redis at `url`, with the password of `EPISODIC_QUEUE_PASSWORD` if the URL has none. From then on the client waits while Redis cannot be reached, reconnects by itself, and sends
 * again what was not answered.
 *
 * Rejects with `option-invalid` if `url` is not the URL of a Redis, and with `queue-unavailable` if none answers there.
 *
 * @param onNotice - receives a sentence when Redis stops to answer, and when it answers again.
 */
export async function connectQueue(url: string, onNotice: (notice: string) => void): Promise<QueueClient> {
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url))
    throw new HarnessError(
      'option-invalid',
      `--queue ${url.replace(/\/\/[^@/]*@/, '//')} is not the URL of a Redis. Give redis://<host>:<port>, or rediss:// for TLS.`,
    )
  const address = shownAddress(url)
  let isConnected = false
  let lastError: Error | null = null
  const options: RedisOptions = {
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
  const client = new Redis(withPassword(url), options) as QueueClient
  client.on('error', (error: Error) => {
    lastError = error
  })
  const late = setTimeout(() => client.disconnect(), CONNECT_TIMEOUT)
  try {
    await client.connect()
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
  return client
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
    throw new HarnessError(
      'option-invalid',
      `The Redis at ${address} may remove keys when its memory is full (maxmemory-policy ${policy}), and a queue must lose none. Set it to noeviction, or give another --queue.`,
    )
  if (appendOnly === 'no' && save === '')
    onNotice(
      `The Redis at ${address} keeps nothing on disk. If it ends, results that it holds are lost, and their episodes are played again. Start it with --appendonly yes.`,
    )
}
