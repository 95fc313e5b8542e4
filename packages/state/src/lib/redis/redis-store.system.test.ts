import { once } from 'node:events'
import { createServer } from 'node:net'
import { contentId } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NEEDS_REDIS, RedisServer, withoutRedis } from '../fixtures/redis-server.fixture.ts'
import type { SessionStore } from '../store/session-store.ts'
import { describeSessionStore } from '../testing/session-store.contract.ts'
import { sessionOf } from '../testing/session-store.samples.ts'
import { openRedisStore, type RedisStoreOptions } from './redis-store.ts'

describe.skipIf(withoutRedis)(`a Redis store (${NEEDS_REDIS})`, () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await RedisServer.start('aof')
  })
  afterAll(() => redis[Symbol.asyncDispose]())

  const prefixes = new WeakMap<SessionStore, string>()
  const open = async (options: RedisStoreOptions = {}) => {
    const { prefix = `${crypto.randomUUID()}:` } = options
    const store = await openRedisStore(redis.url, { ...options, prefix })
    prefixes.set(store, prefix)
    return store
  }

  describeSessionStore('redis', {
    open: () => open({ timeoutSeconds: 5 }),
    async reopen(store) {
      await store[Symbol.asyncDispose]()
      return open({ prefix: prefixes.get(store) })
    },
    share: (store) => open({ prefix: prefixes.get(store) }),
    openExpiring: () => open({ ttlSeconds: 0.1 }),
    async fail() {
      await redis.kill()
      return () => redis.start()
    },
  })

  it('renews the expiry of a session and its log with every commit', async () => {
    await using store = await open({ prefix: 'ttl:', ttlSeconds: 600 })
    await using client = redis.client()
    const lives = () => Promise.all(['ttl:session:a', 'ttl:log:a'].map((key) => client.pexpiretime(key)))
    await store.create(sessionOf('a'))
    await store.commit(sessionOf('a', { revision: 1 }), { revision: 0, epoch: 1 }, { revision: 1, text: '1' })
    await client.pexpire('ttl:session:a', 60_000)
    await client.pexpire('ttl:log:a', 60_000)
    const before = await lives()
    // A commit without an entry keeps the log alive as well.
    await store.commit(sessionOf('a', { revision: 2 }), { revision: 1, epoch: 1 })
    const [session = 0, log] = await lives()
    expect(session).toBe(log)
    expect(session).toBeGreaterThanOrEqual((before[0] ?? 0) + 500_000)
    expect(await client.zscore('ttl:expiry', 'a')).toBe(`${session}`)
  })

  it('leaves only its secret behind', async () => {
    await using store = await open({ prefix: 'tidy:' })
    await using client = redis.client()
    await store.create(sessionOf('a'))
    await store.commit(sessionOf('a', { revision: 1 }), { revision: 0, epoch: 1 }, { revision: 1, text: '1' })
    await store.remove('a')
    expect(await client.keys('tidy:*')).toEqual(['tidy:secret'])
  })

  it('has the pools of a session expire with it, and not before, and leaves nothing of them', async () => {
    await using store = await open({ prefix: 'pools:', ttlSeconds: 600 })
    await using client = redis.client()
    const shared = { pool: 'start', pages: [pageOf('s')] }
    await store.create({ ...sessionOf('a'), pools: ['start'] }, shared)
    await store.create({ ...sessionOf('b'), pools: ['start', 'a.0'] })
    await store.commit(sessionOf('a', { revision: 1 }), { revision: 0, epoch: 1 }, undefined, [pageOf('a')])
    const keys = ['pool:start', 'users:start', 'pool:a.0', 'users:a.0'].map((key) => `pools:${key}`)
    for (const key of [...keys, 'pools:session:a', 'pools:session:b']) await client.pexpire(key, 60_000)
    const lives = () => Promise.all([...keys, 'pools:session:b'].map((key) => client.pexpiretime(key)))
    const before = Math.max(...(await lives()))
    // A commit without pages keeps its pools alive as well.
    await store.commit(sessionOf('b', { revision: 1 }), { revision: 0, epoch: 1 })
    const after = await lives()
    expect(new Set(after)).toEqual(new Set([after[0]]))
    expect(after[0]).toBeGreaterThanOrEqual(before + 500_000)
    expect(await client.zscore('pools:pools', 'a.0')).toBe(`${after[0]}`)
    await store.remove('a')
    expect(await store.readPages('b', [pageOf('s').name, pageOf('a').name])).toEqual(['s', 'a'])
    await store.remove('b')
    expect(await client.keys('pools:*')).toEqual(['pools:secret'])
  })

  it('shortens the life of a pool to that of the users that are left', async () => {
    await using long = await open({ prefix: 'users:', ttlSeconds: 6_000 })
    await using short = await open({ prefix: 'users:', ttlSeconds: 600 })
    await using client = redis.client()
    await long.create({ ...sessionOf('a'), pools: ['start'] }, { pool: 'start', pages: [pageOf('s')] })
    await short.create({ ...sessionOf('b'), pools: ['start'] })
    expect(await client.pexpiretime('users:pool:start')).toBe(await client.pexpiretime('users:session:a'))
    await long.remove('a')
    expect(await client.pexpiretime('users:pool:start')).toBe(await client.pexpiretime('users:session:b'))
    expect(await long.countPages()).toBe(1)
  })

  it('shares nothing with a store of another prefix', async () => {
    await using store = await open({ prefix: 'one:' })
    await using other = await open({ prefix: 'two:' })
    await store.create(sessionOf('a'))
    expect(await other.read('a')).toBeNull()
    expect(await other.count()).toBe(0)
    expect(await other.secret()).not.toEqual(await store.secret())
  })

  it('changes nothing when Redis has no room, and goes on when it has', async () => {
    await using store = await open()
    await using client = redis.client()
    await store.create(sessionOf('a'))
    const commit = () =>
      store.commit(sessionOf('a', { revision: 1 }), { revision: 0, epoch: 1 }, { revision: 1, text: '1' }, [
        pageOf('a'),
      ])
    const create = () => store.create({ ...sessionOf('b'), pools: ['start'] }, { pool: 'start', pages: [pageOf('s')] })
    await client.config('SET', 'maxmemory', '1')
    try {
      for (const write of [commit, create, () => store.checkWritable()])
        await expect(write()).rejects.toMatchObject({ code: 'store-unavailable' })
      expect(await store.countPages()).toBe(0)
      expect(await store.list({ limit: 9 })).toEqual([sessionOf('a')])
      expect(await store.readLog('a', { after: 0, limit: 9 })).toEqual([])
    } finally {
      await client.config('SET', 'maxmemory', '0')
    }
    expect(await commit()).toBe(true)
  })

  it('can be read and not written while Redis is a replica', async () => {
    await using store = await open()
    await using client = redis.client()
    await store.checkWritable()
    await client.call('REPLICAOF', '127.0.0.1', '1')
    try {
      await expect(store.checkWritable()).rejects.toMatchObject({ code: 'store-unavailable' })
    } finally {
      await client.call('REPLICAOF', 'NO', 'ONE')
    }
    await store.checkWritable()
  })

  it('refuses a Redis Cluster', async () => {
    await using cluster = await RedisServer.start('snapshots', ['--cluster-enabled', 'yes'])
    await expect(openRedisStore(cluster.url)).rejects.toMatchObject({
      code: 'store-invalid',
      message: expect.stringContaining('is a cluster'),
    })
  })

  it('refuses a Redis that would evict sessions', async () => {
    await using client = redis.client()
    await client.config('SET', 'maxmemory', '1gb', 'maxmemory-policy', 'allkeys-lru')
    try {
      await expect(open()).rejects.toMatchObject({
        code: 'store-invalid',
        message: expect.stringContaining('noeviction'),
      })
    } finally {
      await client.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction')
    }
  })

  it('rejects a store of another release, and keys of another application under its names', async () => {
    await using client = redis.client()
    await client.set('future:secret', '99.abc')
    await expect(open({ prefix: 'future:' })).rejects.toMatchObject({ code: 'store-invalid' })
    await using store = await open({ prefix: 'other-app:' })
    await client.set('other-app:session:a', 'a person')
    await expect(store.read('a')).rejects.toMatchObject({ code: 'store-invalid' })
    expect(await client.get('other-app:session:a')).toBe('a person')
  })

  it('makes a store of an emptied Redis again, with the same secret', async () => {
    await using store = await open({ prefix: 'emptied:' })
    await using client = redis.client()
    await store.create(sessionOf('a'))
    await client.del(...(await client.keys('emptied:*')))
    expect(await store.create(sessionOf('b'))).toBe(true)
    await using other = await open({ prefix: 'emptied:' })
    expect(await other.secret()).toEqual(await store.secret())
  })

  it('creates nothing in the store that others have made of an emptied Redis', async () => {
    await using store = await open({ prefix: 'taken:' })
    await using client = redis.client()
    await client.del('taken:secret')
    await using other = await open({ prefix: 'taken:' })
    await expect(store.create(sessionOf('a'))).rejects.toMatchObject({ code: 'state-lost' })
    expect(await other.count()).toBe(0)
  })

  it('finishes what was asked for before it is closed', async () => {
    const store = await open({ prefix: 'closing:' })
    const created = store.create(sessionOf('a'))
    await store[Symbol.asyncDispose]()
    expect(await created).toBe(true)
    await using again = await open({ prefix: 'closing:' })
    expect(await again.count()).toBe(1)
  })

  describe('in a database of a number', () => {
    const keysOfFirst = async () => {
      await using client = redis.client()
      return await client.keys('numbered:*')
    }

    it('keeps its sessions there', async () => {
      await using store = await openRedisStore(`${redis.url}/5`, { prefix: 'numbered:' })
      expect(await store.create(sessionOf('a'))).toBe(true)
      expect(await keysOfFirst()).toEqual([])
    })

    it.each(['99', '16', '4294967295', '99999999999999999999'])(
      'rejects one that does not exist, and writes nothing into another: %s',
      async (database) => {
        await expect(openRedisStore(`${redis.url}/${database}`, { prefix: 'numbered:' })).rejects.toMatchObject({
          code: 'store-invalid',
          message: expect.stringMatching(new RegExp(`/${database} does not have that database`)),
        })
        expect(await keysOfFirst()).toEqual([])
      },
    )

    it('rejects one that is named by no number', async () => {
      for (const database of ['main', '0/1', '-1', '1.5'])
        await expect(openRedisStore(`${redis.url}/${database}`)).rejects.toMatchObject({ code: 'store-invalid' })
    })

    it('goes on in no other one where a later connection may not have it', async () => {
      await using store = await openRedisStore(`${redis.url}/6`, { prefix: 'numbered:', timeoutSeconds: 0.5 })
      await using admin = redis.client()
      const mayChoose = async (may: '+' | '-') => {
        await admin.call('ACL', 'SETUSER', 'default', `${may}select`)
        await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      }
      await mayChoose('-')
      await expect(store.create(sessionOf('a'))).rejects.toMatchObject({ code: 'store-unavailable' })
      expect(await keysOfFirst()).toEqual([])
      await mayChoose('+')
      await expect.poll(() => store.create(sessionOf('a')).catch(() => null)).toBe(true)
      expect(await keysOfFirst()).toEqual([])
    })
  })

  it('never shows the password', async () => {
    const url = redis.url.replace('redis://', 'redis://user:hush-hush@')
    await expect(openRedisStore(url)).rejects.toSatisfy(
      (error: Error) => !error.message.includes('hush') && error.message.includes('WRONGPASS'),
    )
  })
})

describe('openRedisStore', () => {
  it('rejects when no server listens', async () => {
    await expect(openRedisStore('redis://127.0.0.1:1', { timeoutSeconds: 1 })).rejects.toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('127.0.0.1:1'),
    })
  })

  it('gives up on a server that does not answer', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    try {
      await expect(openRedisStore(`redis://127.0.0.1:${port}`, { timeoutSeconds: 0.2 })).rejects.toMatchObject({
        code: 'store-unavailable',
      })
    } finally {
      silent.close()
    }
  })

  it('rejects what is not an address, and does not repeat it', async () => {
    for (const url of ['', 'localhost', 'http://user:hush@localhost', 'redis//hush'])
      await expect(openRedisStore(url)).rejects.toSatisfy(
        (error: Error & { code: string }) => error.code === 'store-invalid' && !error.message.includes('hush'),
      )
  })
})

function pageOf(text: string) {
  return { name: contentId(text), text }
}
