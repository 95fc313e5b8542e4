import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NEEDS_REDIS, RedisServer, withoutRedis } from '../fixtures/redis-server.fixture.ts'
import { openRedisStore } from '../redis/redis-store.ts'
import { openSqliteStore } from '../sqlite/sqlite-store.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type { SessionStore } from '../store/session-store.ts'
import { createManualClock } from './clock.ts'
import { Session } from './session.ts'
import type { SessionRecord } from './session-record.ts'
import type { Played, Turn } from './step.ts'

const ROWS = 300

interface Rows {
  readonly public: { count: number }
  readonly private: { readonly rows: Record<string, { text: string; count: number }> }
}

/** A state of some pages. No test has the pages of another: this process keeps those that it has read. */
function startOf(test: string): Rows {
  const rows = Array.from({ length: ROWS }, (_, i) => [
    `row-${i}`,
    { text: `${i} of ${test}`.padEnd(80, '.'), count: 0 },
  ])
  return { public: { count: 0 }, private: { rows: Object.fromEntries(rows) } }
}

function edit(state: Rows): void {
  state.public.count += 1
  const row = state.private.rows[`row-${(state.public.count * 41) % ROWS}`]
  if (row) row.count = state.public.count
}

function play({ record, draft }: Turn): Played {
  edit(draft as unknown as Rows)
  const change = { state: draft, rng: record.rng, now: record.now }
  return { change, end: null, observation: { text: '', structured: null }, terms: {}, potential: null, refused: null }
}

const step = (session: Session, seq: number) =>
  session.step({ seat: 'agent', seq, action: { tool: 'edit', arguments: {} } }, play)

const optionsOf = (store: SessionStore) => ({ store, clock: createManualClock(1_000), history: null, queue: 4 })

/** Creates a session and plays three steps. */
async function playThree(store: SessionStore, id: string): Promise<Session> {
  const record: SessionRecord = {
    id,
    owner: null,
    environment: { name: 'rows', version: '1.0.0' },
    params: {},
    seed: 'seed',
    limits: { steps: 100, seconds: null, bytes: 1_048_576 },
    createdAt: 1_000,
    touchedAt: 1_000,
    base: null,
    revision: 0,
    epoch: 1,
    rng: {},
    now: 0,
    state: startOf(id) as unknown as SessionRecord['state'],
    end: null,
    seats: { agent: { seq: 0, last: null } },
    history: [],
    logBytes: 0,
  }
  const session = (await Session.create(record, optionsOf(store))) as Session
  for (const seq of [0, 1, 2]) await step(session, seq)
  return session
}

function stateAfter(id: string, steps: number): Rows {
  const state = startOf(id)
  for (let i = 0; i < steps; i++) edit(state)
  return state
}

type Damage = (pages: Map<string, string>) => Map<string, string | null>

/** What changes in the store, by the names of pages. */
const DAMAGES: readonly { readonly what: string; readonly says: RegExp; readonly damage: Damage }[] = [
  {
    what: 'the text of a page was changed',
    says: /has another text for page \w{32} of a state\. Restore the store from a copy, or start a new session/,
    damage: (pages) => new Map(pages.entries().map(([name, text]) => [name, text.replaceAll('....', '...,')])),
  },
  {
    what: 'pages are torn',
    says: /has another text for page \w{32}/,
    damage: (pages) => new Map(pages.entries().map(([name, text]) => [name, text.slice(0, -1)])),
  },
  {
    what: 'pages have the names of others',
    says: /has another text for page \w{32}/,
    damage(pages) {
      const texts = [...pages.values()]
      return new Map([...pages.keys()].map((name, index) => [name, texts[(index + 1) % texts.length] as string]))
    },
  },
  {
    what: 'pages are missing',
    says: /lacks page \w{32} of a state/,
    damage: (pages) => new Map(pages.keys().map((name) => [name, null])),
  },
]

describe('a large state whose pages are damaged', () => {
  it.each(DAMAGES)('is refused in a SQLite file if $what, and nothing is played', async ({ what, says, damage }) => {
    const folder = await mkdtemp(join(tmpdir(), 'episodic-damaged-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = join(folder, 'store.db')
    const id = `SQLite ${what}`.replaceAll(' ', '-')
    const written = await openSqliteStore(path)
    await playThree(written, id)
    await written[Symbol.asyncDispose]()

    using database = new DatabaseSync(path)
    const pages = () =>
      new Map(
        database
          .prepare('SELECT name, text FROM page')
          .all()
          .map(({ name, text }) => [`${name}`, `${text}`]),
      )
    const sound = pages()
    for (const [name, text] of damage(sound))
      if (text === null) database.prepare('DELETE FROM page WHERE name = ?').run(name)
      else database.prepare('UPDATE page SET text = ? WHERE name = ?').run(text, name)
    const damaged = pages()
    database.close()

    const store = await openSqliteStore(path)
    await expectRefused(store, id, says)
    await store.remove(id)
    expect(await store.countPages()).toBe(0)
    await store[Symbol.asyncDispose]()
    expect(damaged).not.toEqual(sound)
  })

  it.skipIf(withoutRedis).each(DAMAGES)(
    `is refused in Redis if $what, and nothing is played (${NEEDS_REDIS})`,
    async ({ what, says, damage }) => {
      await using redis = await RedisServer.start('aof')
      await using store = await openRedisStore(redis.url)
      await using client = redis.client()
      const id = `Redis ${what}`.replaceAll(' ', '-')
      await playThree(store, id)
      const pools = await client.keys('episodic:pool:*')
      const sound = new Map<string, Record<string, string>>()
      for (const pool of pools) sound.set(pool, await client.hgetall(pool))
      const all = new Map([...sound.values()].flatMap((pages) => Object.entries(pages)))
      const damaged = damage(all)
      for (const [pool, pages] of sound)
        for (const name of Object.keys(pages)) {
          const text = damaged.get(name) ?? null
          if (text === null) await client.hdel(pool, name)
          else await client.hset(pool, name, text)
        }
      await expectRefused(store, id, says)

      // With the pages of a copy the session goes on.
      for (const [pool, pages] of sound) await client.hset(pool, pages)
      const session = (await Session.read(id, optionsOf(store))) as Session
      await step(session, 3)
      expect(JSON.stringify(session.record.state)).toBe(JSON.stringify(stateAfter(id, 4)))
      await store.remove(id)
      expect(await store.countPages()).toBe(0)
    },
  )

  async function expectRefused(store: SessionStore, id: string, says: RegExp): Promise<void> {
    const before = await store.read(id)
    for (let i = 0; i < 2; i++)
      await expect(Session.read(id, optionsOf(store))).rejects.toMatchObject({
        code: 'store-invalid',
        message: expect.stringMatching(says),
      })
    expect(await store.read(id)).toEqual(before)
    expect(await store.readLog(id, { after: 0, limit: 9 })).toHaveLength(3)
  }
})

describe('a session with a large state', () => {
  it('is not found if it is removed while its pages are read', async () => {
    const store = createMemoryStore()
    await playThree(store, 'removed')
    const raced: SessionStore = Object.assign(Object.create(store) as SessionStore, {
      read: (id: string) => store.read(id),
      async readPages(id: string, names: readonly string[]) {
        await store.remove(id)
        return store.readPages(id, names)
      },
    })
    await expect(Session.read('removed', optionsOf(raced))).rejects.toMatchObject({ code: 'session-not-found' })
  })

  it.skipIf(withoutRedis)(`waits for a Redis without room, and plays its step once (${NEEDS_REDIS})`, async () => {
    await using redis = await RedisServer.start('aof')
    await using store = await openRedisStore(redis.url)
    await using client = redis.client()
    const session = await playThree(store, 'full')
    const pages = await store.countPages()
    await client.config('SET', 'maxmemory', '1')
    for (let i = 0; i < 2; i++) await expect(step(session, 3)).rejects.toMatchObject({ code: 'store-unavailable' })
    expect(await store.countPages()).toBe(pages)
    await client.config('SET', 'maxmemory', '0')
    expect(await step(session, 3)).toMatchObject({ replayed: false, step: { report: { seq: 4 } } })
    expect(await step(session, 3)).toMatchObject({ replayed: true })
    const again = (await Session.read('full', optionsOf(store))) as Session
    expect(JSON.stringify(again.record.state)).toBe(JSON.stringify(stateAfter('full', 4)))
    await store.remove('full')
    expect(await store.countPages()).toBe(0)
  })
})
