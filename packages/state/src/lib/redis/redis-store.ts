import { missingPackage } from '@episodic/protocol/internal'
import { StateError, storeInvalid } from '../state-error.ts'
import { pagesMissing } from '../store/pages-missing.ts'
import type { SessionStore, StoredPage, StoredSession } from '../store/session-store.ts'
import { createRedisConnection, type RedisConnection } from './redis-connection.ts'
import { formatAddress } from './redis-fault.ts'

export interface RedisStoreOptions {
  /** The prefix of all keys. Stores with different prefixes share nothing. Default `episodic:`. */
  readonly prefix?: string | undefined
  /**
   * Seconds after its last commit until a session expires by itself, by the clock of Redis: for sessions that no server
   * sweeps any more. Should be well above the time after which a server sweeps. Default 86,400, a day.
   */
  readonly ttlSeconds?: number | undefined
  /** Seconds to wait for a connection, and again for an answer, until a call is `store-unavailable`. Default 5. */
  readonly timeoutSeconds?: number | undefined
}

/**
 * Opens the store in the Redis (7 or later) at `url`, `redis://` or `rediss://`. Any number of processes may have it
 * open.
 *
 * The configuration of Redis decides how durable an acknowledged commit is. With `appendonly yes` and `appendfsync
 * always` it survives the death of the Redis process and a power cut. With `everysec`, the default, either may lose
 * about the last second: Redis also holds writes back while a slow disk syncs. If Redis loses a commit, calls of the
 * session are `state-lost`.
 *
 * While Redis is down, calls wait until the timeout and then reject with `store-unavailable`; the store reconnects by
 * itself. A write whose answer is lost with the connection rejects with `store-unavailable` too, and may have been
 * applied or may still be; it is never applied in part, and never over another client's write.
 *
 * Rejects with `store-invalid` if `url` is not such an address, another version wrote the store, Redis is a cluster, or
 * it is configured to evict keys that have not expired; with `package-missing` if the package `ioredis` is not
 * installed.
 */
export async function openRedisStore(url: string, options: RedisStoreOptions = {}): Promise<SessionStore> {
  const { prefix = 'episodic:', ttlSeconds = 86_400, timeoutSeconds = 5 } = options
  assertAddress(url)
  const address = formatAddress(url)
  const Redis = await loadClient()
  const connection = createRedisConnection(Redis, url, timeoutSeconds * 1_000)
  await connection.connect()
  try {
    await assertKeepsAll(address, connection)
    const secret = await sharedSecret(address, connection, prefix)
    return createRedisStore({ connection, address, prefix, secret, ttl: Math.ceil(ttlSeconds * 1_000) })
  } catch (cause) {
    await connection[Symbol.asyncDispose]()
    throw cause
  }
}

async function loadClient() {
  try {
    return (await import('ioredis')).Redis
  } catch (cause) {
    const message = missingPackage(cause, 'A store in Redis', 'ioredis@6')
    throw message === null ? cause : new StateError('package-missing', message, { cause })
  }
}

/** The version of the layout of the keys, stored before the secret. */
const VERSION = '2'

/** The fields of a session's hash, in the order in which {@link asSession} takes them. */
const FIELDS = ['revision', 'epoch', 'touchedAt', 'head', 'state', 'origin', 'base', 'pool', 'pools'] as const

/** How many pages are read by one script: Lua takes some thousands of arguments. */
const PAGES_AT_ONCE = 1_000

/** How long a pool is held at most, unless it is held again, as servers do twice a minute: a process may die. */
const HELD_MILLISECONDS = 120_000

interface RedisStoreParts {
  readonly connection: RedisConnection
  readonly address: string
  readonly prefix: string
  /** As stored, with its version. */
  readonly secret: string
  /** In milliseconds. */
  readonly ttl: number
}

/**
 * A session is a hash, and its log a stream whose entries have the revision as their id; both expire at the same time.
 * Three sorted sets index the sessions: by id, by last touch, and by expiry.
 */
function createRedisStore({ connection, address, prefix, secret, ttl }: RedisStoreParts) {
  /** Stands beside the ids of sessions, which contain no such character. */
  const holder = `\n${crypto.randomUUID()}`
  let held: readonly string[] = []
  const keysFor = {
    secret: `${prefix}secret`,
    session: `${prefix}session:`,
    log: `${prefix}log:`,
    ids: `${prefix}ids`,
    touched: `${prefix}touched`,
    expiry: `${prefix}expiry`,
  }
  return {
    async secret() {
      await connection.run((client) => client.ping())
      return new Uint8Array(Buffer.from(secret.slice(VERSION.length + 1), 'base64url'))
    },
    async checkWritable() {
      await connection.run((client) => client.set(`${prefix}writable`, '1', 'EX', 60))
    },
    async create(session, shared, own = []) {
      const { id, revision, epoch, touchedAt, head, state, origin, base, pool } = session
      const pools = JSON.stringify(session.pools)
      const keys = [keysFor.secret, keysFor.session + id, keysFor.log + id, ...indexes()]
      const numbers = ['revision', revision, 'epoch', epoch, 'touchedAt', touchedAt]
      const fields = [...numbers, 'head', head, 'state', state, 'origin', origin, 'pool', pool]
      if (base !== null) fields.push('base', base)
      if (session.pools.length > 0) fields.push('pools', pools)
      const ownParts = partsOf(own)
      const lengths = [fields.length, ownParts.length]
      const values = [id, ttl, secret, prefix, touchedAt, pool, pools, shared?.pool ?? '', ...lengths, ...fields]
      const pages = [...ownParts, ...partsOf(shared?.pages ?? [])]
      const created = await connection.run((client) => client.createSession(...keys, ...values, pages))
      if (created === -1)
        throw new StateError(
          'state-lost',
          `The Redis at ${address} was emptied, and others have made another store in it since. Start this server anew to use that.`,
        )
      if (typeof created === 'string') throw pagesMissing(id, created)
      return created === 1
    },
    async read(id) {
      const fields = await connection.run((client) => client.hmget(keysFor.session + id, ...FIELDS))
      return fields[0] === null ? null : asSession(id, fields)
    },
    async commit(next, expected, entry, pages = []) {
      const { id, revision, epoch, touchedAt, head, state } = next
      const keys = [keysFor.session + id, keysFor.log + id, keysFor.touched, keysFor.expiry]
      const values = [id, ttl, prefix, expected.revision, expected.epoch, revision, epoch, touchedAt, head, state]
      const parts = entry ? [entryId(entry.revision), 'text', entry.text] : []
      if (entry?.state !== undefined) parts.push('state', entry.state)
      values.push(parts.length, ...parts)
      return (await connection.run((client) => client.commitSession(...keys, ...values, partsOf(pages)))) === 1
    },
    async remove(id) {
      const keys = [keysFor.session + id, keysFor.log + id, ...indexes()]
      return (await connection.run((client) => client.removeSession(...keys, id, prefix))) === 1
    },
    async readLog(id, range) {
      const from = entryId(range.after + 1)
      const entries = await connection.run((client) => client.xrange(keysFor.log + id, from, '+', 'COUNT', range.limit))
      return entries.map(([key, [, text, , state]]) => {
        const entry = { revision: Number.parseInt(key, 10), text: text as string }
        return state === undefined ? entry : { ...entry, state }
      })
    },
    async list(page) {
      const args = [...indexes(), keysFor.session, page.after ?? '', page.limit, ...FIELDS]
      const sessions = await connection.run((client) => client.listSessions(...args))
      return sessions.map(([id, fields]) => asSession(id, fields))
    },
    idle(query) {
      return connection.run((client) => client.idleSessions(...indexes(), query.before, query.limit))
    },
    count() {
      return connection.run((client) => client.countSessions(...indexes()))
    },
    async readPages(id, names) {
      const texts: (string | null)[] = []
      for (let from = 0; from < names.length; from += PAGES_AT_ONCE) {
        const some = names.slice(from, from + PAGES_AT_ONCE)
        const found = await connection.run((client) => client.readPages(keysFor.session + id, id, prefix, some))
        texts.push(...(found ?? some.map(() => null)))
      }
      return texts
    },
    async hold(pools) {
      const before = held.filter((name) => !pools.includes(name))
      const values = [prefix, holder, Math.min(ttl, HELD_MILLISECONDS), pools.length, ...pools, ...before]
      await connection.run((client) => client.holdPools(`${prefix}pools`, ...values))
      held = pools
    },
    countPages() {
      return connection.run((client) => client.countPages(`${prefix}pools`, prefix))
    },
    [Symbol.asyncDispose]() {
      return connection[Symbol.asyncDispose]()
    },
  } satisfies SessionStore

  function indexes(): string[] {
    return [keysFor.ids, keysFor.touched, keysFor.expiry]
  }
}

function asSession(id: string, fields: readonly (string | null)[]): StoredSession {
  const [revision, epoch, touchedAt, ...texts] = fields
  const [head, state, origin, base, pool, pools] = texts as [
    string,
    string,
    string,
    string | null,
    string,
    string | null,
  ]
  const numbers = { revision: Number(revision), epoch: Number(epoch), touchedAt: Number(touchedAt) }
  return { id, ...numbers, head, state, origin, base, pool, pools: pools ? JSON.parse(pools) : [] }
}

function partsOf(pages: readonly StoredPage[]): string[] {
  return pages.flatMap(({ name, text }) => [name, text])
}

function entryId(revision: number): string {
  return `${revision}-1`
}

function assertAddress(url: string): void {
  const { protocol = '', pathname = '' } = URL.parse(url) ?? {}
  if (/^rediss?:$/.test(protocol) && /^\/?\d*$/.test(pathname)) return
  throw storeInvalid('This is not an address of a database of a Redis. Use one like redis://localhost:6379/0.')
}

/**
 * Rejects for a Redis Cluster, whose scripts cannot write the keys of a session and its indexes together, and for a
 * Redis with an eviction policy: short of memory, it would drop keys, and with them answered steps.
 */
async function assertKeepsAll(address: string, connection: RedisConnection): Promise<void> {
  if (/^cluster_enabled:1\b/m.test(await connection.run((client) => client.info('cluster'))))
    throw storeInvalid(
      `The Redis at ${address} is a cluster, which keeps the keys of one session on several nodes. Use a Redis without cluster-enabled.`,
    )
  const memory = await connection.run((client) => client.info('memory'))
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(memory) ?? []
  if (policy === 'noeviction' || /^maxmemory:0\b/m.test(memory)) return
  throw storeInvalid(
    `The Redis at ${address} would drop sessions when it is short of memory (maxmemory-policy ${policy}). Set the policy to noeviction.`,
  )
}

/** Resolves with the secret that all openers of the store share. The first opener creates it. */
async function sharedSecret(address: string, connection: RedisConnection, prefix: string): Promise<string> {
  const key = `${prefix}secret`
  const candidate = `${VERSION}.${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')}`
  await connection.run((client) => client.set(key, candidate, 'NX'))
  const secret = await connection.run((client) => client.get(key))
  if (secret?.startsWith(`${VERSION}.`)) return secret
  throw storeInvalid(
    `The store at ${address} was written by another release, or ${key} is not its own. Use that release, or another prefix.`,
  )
}
