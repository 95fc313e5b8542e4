import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRng, type JsonObject } from '@episodic/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NEEDS_REDIS, RedisServer, withoutRedis } from '../fixtures/redis-server.fixture.ts'
import { openRedisStore } from '../redis/redis-store.ts'
import { openSqliteStore } from '../sqlite/sqlite-store.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type { SessionStore } from '../store/session-store.ts'
import { createManualClock } from './clock.ts'
import { storeSession } from './held-session.ts'
import { Session } from './session.ts'
import type { SessionRecord } from './session-record.ts'
import type { Played, Turn } from './step.ts'

const LIMITS = { steps: 10_000, seconds: null, bytes: 67_108_864 }

const row = (i: number): JsonObject => ({ id: i, status: 'open', customer: `customer ${i % 97}`, items: [i, i * 2] })

/** A state of some hundred kilobytes. */
function startOf(rows: number): SessionRecord['state'] {
  return {
    public: { turn: 0 },
    private: { orders: Object.fromEntries(Array.from({ length: rows }, (_, i) => [`order-${i}`, row(i)])), log: [] },
  }
}

function recordOf(id: string, state: SessionRecord['state'], createdAt: number): SessionRecord {
  return {
    id,
    owner: null,
    environment: { name: 'orders', version: '1.0.0' },
    params: {},
    seed: 'seed',
    limits: LIMITS,
    createdAt,
    touchedAt: createdAt,
    base: null,
    revision: 0,
    epoch: 1,
    rng: {},
    now: 0,
    state,
    end: null,
    seats: { agent: { seq: 0, last: null } },
    history: [],
    logBytes: 0,
  }
}

interface Orders {
  orders: Record<string, JsonObject>
  log: JsonObject[]
}

/** Changes one row, adds one, removes one, and logs it: by numbers, so that a plain state changes in the same way. */
function edit(state: { public: { turn?: number }; private: object }, step: number): void {
  const { orders, log } = state.private as Orders
  const keys = Object.keys(orders)
  const key = keys[(step * 7_919) % keys.length] as string
  Object.assign(orders[key] as object, { status: `changed in ${step}` })
  orders[`new-${step}`] = row(step)
  if (step % 3 === 0) delete orders[keys[step % keys.length] as string]
  log.push({ step, key })
  state.public.turn = step
}

const rules =
  (step: number) =>
  ({ record, draft }: Turn): Played => {
    edit(draft as never, step)
    const observation = { text: `${step}`, structured: null }
    const change = { state: draft, rng: record.rng, now: record.now }
    return { change, end: null, observation, terms: {}, potential: null, refused: null }
  }

const STORES: { readonly name: string; readonly skip?: boolean; open(): Promise<() => Promise<SessionStore>> }[] = [
  {
    name: 'memory',
    async open() {
      const store = createMemoryStore()
      return async () => store
    },
  },
  {
    name: 'SQLite',
    async open() {
      const folder = await mkdtemp(join(tmpdir(), 'episodic-large-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      let last: SessionStore | undefined
      return async () => {
        await last?.[Symbol.asyncDispose]()
        last = await openSqliteStore(join(folder, 'store.db'))
        const store = last
        onTestFinished(() => store[Symbol.asyncDispose]())
        return store
      }
    },
  },
  {
    name: 'Redis',
    skip: withoutRedis,
    async open() {
      const server = await RedisServer.start('aof')
      onTestFinished(() => server[Symbol.asyncDispose]())
      return async () => {
        const store = await openRedisStore(server.url)
        onTestFinished(() => store[Symbol.asyncDispose]())
        return store
      }
    },
  },
]

describe.each(STORES)('A session with a large state in $name', ({ skip, open }) => {
  it.skipIf(skip)(
    `plays, survives a restart, is forked, and leaves no page behind${skip ? ` (${NEEDS_REDIS})` : ''}`,
    async () => {
      const clock = createManualClock(1_000)
      const openStore = await open()
      let store = await openStore()
      const options = () => ({ store, clock, history: null, queue: 4 })
      const plain = startOf(900)
      let session = (await Session.create(recordOf('first', startOf(900), clock.now()), options())) as Session
      const move = (seq: number) => ({ seat: 'agent', seq, action: { tool: 'edit', arguments: {} } })
      for (let step = 0; step < 30; step++) {
        await session.step(move(step), rules(step))
        edit(plain as never, step)
        expect(JSON.stringify(session.record.state)).toBe(JSON.stringify(plain))
        if (step % 10 === 9) {
          store = await openStore()
          session = (await Session.read('first', options())) as Session
          expect(JSON.stringify(session.record.state)).toBe(JSON.stringify(plain))
          expect(await session.step(move(step), rules(step))).toMatchObject({ replayed: true })
        }
      }
      // A second holder follows the first.
      const another = (await Session.read('first', options())) as Session
      await another.step(move(30), rules(30))
      await session.step(move(31), rules(31))
      edit(plain as never, 30)
      edit(plain as never, 31)
      expect(JSON.stringify(session.record.state)).toBe(JSON.stringify(plain))

      const { kept, pools, record } = await session.readWithState()
      const own = kept.forked()
      const base = { ...record, state: kept.text, request: 'digest', seats: { agent: { seq: 32 } } }
      await storeSession(store, {
        record: { ...record, id: 'fork', base, revision: 0, state: own.state },
        kept: own,
        pools,
      })
      const before = await store.countPages()
      await store.remove('first')
      expect(await store.countPages()).toBe(before)
      const fork = (await Session.read('fork', options())) as Session
      await fork.step({ seat: 'agent', action: { tool: 'edit', arguments: {} } }, rules(32))
      edit(plain as never, 32)
      expect(JSON.stringify(fork.record.state)).toBe(JSON.stringify(plain))
      await store.remove('fork')
      expect(await store.countPages()).toBe(0)
    },
  )

  it.skipIf(skip)(`keeps one beginning of many sessions once${skip ? ` (${NEEDS_REDIS})` : ''}`, async () => {
    const clock = createManualClock(1_000)
    const store = await (await open())()
    const options = { store, clock, history: null, queue: 4 }
    const start = startOf(400)
    await Session.create(recordOf('0', start, clock.now()), options)
    const pages = await store.countPages()
    for (let i = 1; i < 20; i++) await Session.create(recordOf(`${i}`, start, clock.now()), options)
    expect(await store.countPages()).toBe(pages)
    const random = createRng('players')
    for (let i = 0; i < 20; i++) {
      const session = (await Session.read(`${i}`, options)) as Session
      await session.step({ seat: 'agent', action: { tool: 'edit', arguments: {} } }, rules(random.int(1, 300)))
    }
    expect(await store.countPages()).toBeLessThan(pages + 20 * 30)
    for (let i = 0; i < 20; i++) await store.remove(`${i}`)
    expect(await store.countPages()).toBe(0)
  })
})
