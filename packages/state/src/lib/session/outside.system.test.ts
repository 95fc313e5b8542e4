import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutsideEvent } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adding, openCountingSession, play, rulesOf, totalOf } from '../fixtures/counting-session.fixture.ts'
import { NEEDS_REDIS, RedisServer, withoutRedis } from '../fixtures/redis-server.fixture.ts'
import { openRedisStore } from '../redis/redis-store.ts'
import { openSqliteStore } from '../sqlite/sqlite-store.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type { SessionStore, StoredSession } from '../store/session-store.ts'
import { holdSession } from './held-session.ts'
import type { Happened } from './outside.ts'
import type { Session } from './session.ts'
import { encodeSession } from './session-record.ts'
import type { Turn } from './step.ts'

/** Adds to the total of the counting world from outside. */
function gift(by: number, id = `gift of ${by}`): OutsideEvent {
  return { id, type: 'gift', data: { by } }
}

function applying({ data }: OutsideEvent) {
  return ({ record, draft }: Pick<Turn, 'record' | 'draft'>): Happened => {
    Object.assign(draft.public, { total: totalOf(record) + Number(data.by) })
    const end = Number(data.by) < 0 ? ({ kind: 'terminated', reason: 'robbed' } as const) : null
    return { change: { state: draft, rng: record.rng, now: record.now + 100 }, end, said: `a gift of ${data.by}` }
  }
}

const give = (session: Session, event: OutsideEvent) => session.publish(event, applying(event))

/** A store of each kind, gone after the test. */
const STORES: readonly (readonly [string, () => Promise<SessionStore>])[] = [
  ['memory', async () => createMemoryStore()],
  [
    'SQLite',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'episodic-outside-'))
      onTestFinished(() => rm(folder, { recursive: true, force: true }))
      return openSqliteStore(join(folder, 'store.db'))
    },
  ],
]

async function openRedis(): Promise<SessionStore> {
  const server = await RedisServer.start('aof')
  onTestFinished(() => server[Symbol.asyncDispose]())
  return openRedisStore(server.url)
}

async function deliverAcrossHolders(store: SessionStore): Promise<void> {
  onTestFinished(() => store[Symbol.asyncDispose]())
  const { session, another } = await openCountingSession({ store })
  const other = await another()
  expect(await give(session, gift(5))).toEqual({ revision: 1, end: null, delivered: 'now' })
  expect(await give(other, gift(5))).toEqual({ revision: 1, end: null, delivered: 'before' })
  const both = await Promise.all([give(session, gift(7)), give(other, gift(7))])
  expect(both.map(({ delivered }) => delivered).sort()).toEqual(['before', 'now'])
  const { step } = await play(await another(), adding(1, 0))
  expect(step.report).toMatchObject({ seq: 1, revision: 3, events: [{ data: { by: 5 } }, { data: { by: 7 } }] })
  expect(totalOf((await another()).record)).toBe(13)
  // Reported events are not reported again, and are still known.
  const { outside } = (await another()).record
  expect(outside).toMatchObject({ pending: [], known: [{ id: 'gift of 5' }, { id: 'gift of 7' }] })
}

describe('Session.publish', () => {
  it.each(STORES)('delivers once among all holders of a session, over %s', async (_, open) => {
    await deliverAcrossHolders(await open())
  })

  it.skipIf(withoutRedis)(`delivers once among all holders of a session, over Redis (${NEEDS_REDIS})`, async () => {
    await deliverAcrossHolders(await openRedis())
  })

  it('leaves the log to the next step, and every seat where it was', async () => {
    const { session, store } = await openCountingSession({ seats: ['one', 'other'] })
    await give(session, gift(5))
    expect(await store.readLog('counting-1', { after: 0, limit: 9 })).toEqual([])
    expect(session.record).toMatchObject({ now: 100, seats: { one: { seq: 0 }, other: { seq: 0 } } })
  })

  it('passes on what the rules throw, and changes nothing', async () => {
    const { session } = await openCountingSession()
    const broken = session.publish(gift(5), () => {
      throw new Error('broken')
    })
    await expect(broken).rejects.toThrow('broken')
    expect((await session.refresh()).revision).toBe(0)
    expect(await give(session, gift(5))).toMatchObject({ delivered: 'now' })
  })

  it('applies the rules again where somebody has committed in between', async () => {
    const { session, another } = await openCountingSession()
    await play(await another(), adding(2))
    let tries = 0
    const event = gift(5)
    const result = await session.publish(event, (turn) => {
      tries += 1
      return applying(event)(turn)
    })
    expect({ tries, result }).toEqual({ tries: 2, result: { revision: 2, end: null, delivered: 'now' } })
    expect(totalOf(session.record)).toBe(7)
  })

  it('is fenced once somebody else has taken the session over', async () => {
    const { session, another } = await openCountingSession()
    await (await another()).takeOver()
    await expect(give(session, gift(5))).rejects.toMatchObject({ code: 'fenced' })
  })

  it('has room of its own beside the answers, as large as the limit of bytes', async () => {
    const { session } = await openCountingSession({ limits: { bytes: 2_000 } })
    const letter = (id: string, length: number): OutsideEvent => ({
      ...gift(1, id),
      data: { by: 1, note: 'x'.repeat(length) },
    })
    await expect(give(session, letter('a', 2_000))).rejects.toMatchObject({
      code: 'event-too-large',
      details: { limit: 2_000 },
    })
    await give(session, letter('b', 900))
    await expect(give(session, letter('c', 1_100))).rejects.toMatchObject({ code: 'events-full' })
    await give(session, letter('d', 700))
    // With both events in its report the entry of the log is beyond the limit, and the answer is not.
    expect((await play(session, adding(1))).step.report.events).toHaveLength(2)
    expect(await give(session, letter('c', 1_100))).toMatchObject({ delivered: 'now' })
  })

  it('survives what a store keeps: encoding and decoding give the same record', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.integer({ min: 1, max: 9 })), { maxLength: 20 }), async (moves) => {
        const { session, store } = await openCountingSession()
        for (const [i, by] of moves.entries()) {
          if (by === null) await play(session, adding(1))
          else await give(session, gift(by, String(i)))
          const stored = (await store.read('counting-1')) as StoredSession
          const { record } = await holdSession(store, stored)
          expect(record).toEqual(JSON.parse(JSON.stringify(session.record)))
          expect(encodeSession(record)).toEqual(stored)
        }
        const total = moves.reduce<number>((sum, by) => sum + (by ?? 1), 0)
        expect(totalOf(session.record)).toBe(total)
      }),
    )
  })

  it('costs a session that nothing happens to not a byte', async () => {
    const { session, store } = await openCountingSession()
    await play(session, adding(1))
    const { head } = (await store.read('counting-1')) as StoredSession
    expect(Object.keys(JSON.parse(head))).toEqual(['rng', 'now', 'end', 'seats', 'history', 'logBytes'])
  })
})

describe('a step that is prepared', () => {
  /** What a step is prepared with; `done` counts. */
  function preparation(external: boolean, prepare: () => Promise<number> = async () => 1) {
    const counted = { done: 0 }
    const of = () => ({
      external,
      prepare: () => {
        counted.done += 1
        return prepare()
      },
    })
    return { counted, of }
  }

  const prepared = (session: Session, by: number, seq: number, of: ReturnType<typeof preparation>['of']) =>
    session.step(adding(by, seq), rulesOf(adding(by)), of)

  it('is given again with its answer, and not prepared again', async () => {
    const { session, another } = await openCountingSession()
    const { counted, of } = preparation(false)
    const { step } = await prepared(session, 5, 0, of)
    expect(step.report.prepared).toBe(1)
    expect(await prepared(await another(), 5, 0, of)).toEqual({ step, replayed: true, played: null })
    expect(counted.done).toBe(1)
  })

  it('writes down what is external before it begins, in a commit of its own', async () => {
    const { session, another } = await openCountingSession()
    const seen = Promise.withResolvers<unknown>()
    const { of } = preparation(true, async () => {
      seen.resolve((await another()).record)
      return 1
    })
    const { step } = await prepared(session, 5, 0, of)
    expect(await seen.promise).toMatchObject({ revision: 1, effect: { seat: 'agent' }, seats: { agent: { seq: 0 } } })
    expect(step.report).toMatchObject({ seq: 1, revision: 2 })
    expect((await another()).record.effect).toBeUndefined()
  })

  it.each(STORES)('is not begun again where it was begun and never finished, over %s', async (_, open) => {
    const store = await open()
    onTestFinished(() => store[Symbol.asyncDispose]())
    const { session, another } = await openCountingSession({ store })
    const lost = preparation(true, () => Promise.reject(new Error('the line went dead')))
    await expect(prepared(session, 5, 0, lost.of)).rejects.toThrow('the line went dead')
    const { counted, of } = preparation(true)
    await expect(prepared(await another(), 5, 0, of)).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(counted.done).toBe(0)
    await play(await another(), adding(2, 0))
    expect((await prepared(await another(), 5, 1, of)).step.report.seq).toBe(2)
  })

  it('is not prepared where it is no step, or comes after the end, and knows whether it is late', async () => {
    const { counted, of } = preparation(true)
    const { session, clock } = await openCountingSession({ limits: { seconds: 10 } })
    await expect(prepared(session, 5, 3, of)).rejects.toMatchObject({ code: 'state-lost' })
    clock.advance(10_000)
    const asked: boolean[] = []
    await session.step(adding(5, 0), rulesOf(adding(5)), (late) => {
      asked.push(late)
      return null
    })
    expect(asked).toEqual([true])
    const ended = await openCountingSession({ id: 'counting-2' })
    await give(ended.session, gift(-1))
    await prepared(ended.session, 5, 0, of)
    expect(counted.done).toBe(0)
  })
})
