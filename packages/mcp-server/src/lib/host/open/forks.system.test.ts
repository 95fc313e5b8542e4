import { DEFAULT_SEAT, type OpenResult } from '@episodic/protocol'
import type { SessionStore, StoredSession } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineEnvironment } from '../../environment/definition/define-environment.ts'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { garden } from '../../fixtures/garden.fixture.ts'
import { openSqliteFile } from '../../fixtures/sqlite-file.fixture.ts'
import { asking, call, createTestHost, freshKey } from '../../fixtures/testbed.fixture.ts'
import type { Host, StepCall } from '../host.ts'

const STORES: Readonly<Record<string, () => Promise<SessionStore>>> = {
  memory: async () => createMemoryStore(),
  sqlite: openSqliteFile,
}

const water = (litres: number, seq?: number): StepCall => call('water', { litres }, seq)
const anyCalls = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 5 }).map((litres) => water(litres)) },
    fc.constantFrom(water(0), call('water', { litres: 'much' }), call('dig')),
  ),
  { minLength: 1, maxLength: 20 },
)

/** Plays calls one after the other, and gives the answers without what names their place in the session. */
async function play(host: Host, { session }: OpenResult, calls: readonly StepCall[]) {
  let { seq } = (await atControl(host, session).state()).seats[DEFAULT_SEAT] as { seq: number }
  const answers = []
  for (const { action } of calls) {
    const { step } = await atControl(host, session).step({ action, seq })
    const { revision: _, ...report } = step.report
    answers.push({ ...step, report })
    if (report.end) break
    seq += 1
  }
  return answers
}

/** A store that creates in another way. */
function creating(store: SessionStore, create: SessionStore['create']): SessionStore {
  return new Proxy(store, {
    get: (target, key) => (key === 'create' ? create : Reflect.get(target, key).bind(target)),
  })
}

const fork = (host: Host, { session }: OpenResult, request: object = {}) =>
  atControl(host, session).fork({ requestKey: freshKey(), ...request })

describe.each(Object.keys(STORES))('Host.fork, in %s', (name) => {
  const openStore = STORES[name] as () => Promise<SessionStore>
  const createGardenHost = async () => createTestHost({ environments: [garden], store: await openStore() })

  it('goes on as its parent does, from any step of any episode, and leaves it alone', async () => {
    const { host } = await createGardenHost()
    const anyEpisode = {
      seed: fc.string({ minLength: 1, maxLength: 9 }),
      calls: anyCalls,
      at: fc.nat(100),
      more: anyCalls,
    }
    await fc.assert(
      fc.asyncProperty(fc.record(anyEpisode), async ({ seed, calls, at, more }) => {
        const parent = await host.open(null, asking({ environment: 'garden', seed, params: { maxHeight: 6 } }))
        const played = await play(host, parent, calls)
        const before = await atControl(host, parent.session).state()
        // An episode that is over is forked before its last step at the latest.
        const last = played.length - (before.end ? 1 : 0)
        const place = at % (last + 1)
        const forks = await fork(host, parent, { at: place, count: 2 })
        const rest = calls.slice(place, played.length)
        for (const one of forks) {
          expect(one.seats[DEFAULT_SEAT]?.seq).toBe(place)
          expect(await play(host, one, rest)).toEqual(played.slice(place))
          const { state, now, seats, end } = await atControl(host, one.session).state()
          expect({ state, now, seats, end }).toEqual({
            state: before.state,
            now: before.now,
            seats: before.seats,
            end: before.end,
          })
        }
        expect(await atControl(host, parent.session).state()).toEqual(before)
        // A fork of a fork, at a step that the fork itself played; and of the present.
        const [first] = forks as [OpenResult]
        const later = place + ((at * 7) % (last - place + 1))
        const [again] = (await fork(host, first, { at: later })) as [OpenResult]
        expect(await play(host, again, calls.slice(later, played.length))).toEqual(played.slice(later))
        if (before.end) return
        const [present] = (await fork(host, parent)) as [OpenResult]
        expect(await play(host, present, more)).toEqual(await play(host, parent, more))
      }),
      { numRuns: 25 },
    )
  })

  it.each([0, 1, 2])('mixes no positions: with fork %i of a request closed, its key is spent', async (closed) => {
    const { host } = await createGardenHost()
    const parent = await host.open(null, asking({ environment: 'garden' }))
    await play(host, parent, [water(1)])
    const request = { requestKey: freshKey(), count: 3 }
    const forks = await fork(host, parent, request)
    await atControl(host, forks[closed]?.session as string).close()
    await play(host, parent, [water(3)])
    await expect(fork(host, parent, request)).rejects.toMatchObject({
      code: 'invalid-params',
      message: expect.stringMatching(/^Of the 3 forks of this request key, 1 are gone: .* Make a new key\.$/),
      details: { asked: 3, left: 2 },
    })
    expect((await host.list({ limit: 10 })).total).toBe(3)
  })

  it('is there for another server on the same store', async () => {
    const store = await openStore()
    const { host } = createTestHost({ environments: [garden], store })
    const parent = await host.open(null, asking({ environment: 'garden' }))
    await play(host, parent, [water(1), water(2), water(3)])
    const [first] = (await fork(host, parent, { at: 1 })) as [OpenResult]
    await play(host, first, [water(2)])
    const { host: other } = createTestHost({ environments: [garden], store })
    const [again] = (await fork(other, first, { at: 1 })) as [OpenResult]
    expect(await play(other, again, [water(2), water(3)])).toEqual(
      await play(host, ((await fork(host, parent, { at: 1 })) as [OpenResult])[0], [water(2), water(3)]),
    )
    await expect(fork(other, first, { at: 0 })).rejects.toMatchObject({
      code: 'invalid-params',
      details: { begun: 1, answered: 2 },
    })
  })
})

describe('Host.fork', () => {
  const openGarden = async (calls: readonly StepCall[] = [], options = {}) => {
    const testbed = createTestHost({ environments: [garden], ...options })
    const parent = await testbed.host.open(null, asking({ environment: 'garden', seed: 'garden' }))
    await play(testbed.host, parent, calls)
    return { ...testbed, parent }
  }

  it('counts the steps of its parent against the limit', async () => {
    const { host } = createTestHost({ environments: [garden] })
    const parent = await host.open(null, asking({ environment: 'garden', limits: { steps: 4 } }))
    await play(host, parent, [water(0), water(1), water(1)])
    const [one] = (await fork(host, parent)) as [OpenResult]
    expect(await play(host, one, [water(0)])).toMatchObject([{ report: { end: { reason: 'step-limit' } } }])
  })

  it('keeps the very string of the state in memory, however many begin there', async () => {
    const kept: StoredSession[] = []
    const store = createMemoryStore()
    const watched = creating(store, (session) => {
      kept.push(session)
      return store.create(session)
    })
    const { host, parent } = await openGarden([water(1)], { store: watched })
    await fork(host, parent, { count: 5 })
    const [state, ...others] = kept.slice(1).flatMap((session) => [session.state, session.base])
    expect(others).toHaveLength(9)
    expect(others.every((other) => Object.is(other, state))).toBe(true)
    expect(new Set(kept.slice(1).map(({ origin, head }) => origin + head)).size).toBe(1)
  })

  it('names an end, and the step before it can be forked', async () => {
    const { host } = createTestHost({ environments: [garden] })
    const parent = await host.open(null, asking({ environment: 'garden', params: { maxHeight: 0 } }))
    const [last] = await play(host, parent, [water(1)])
    const ended = { code: 'episode-ended', details: { end: { kind: 'terminated', reason: 'grown' } } }
    await expect(fork(host, parent)).rejects.toMatchObject(ended)
    await expect(fork(host, parent, { at: 1 })).rejects.toMatchObject(ended)
    const [one] = (await fork(host, parent, { at: 0 })) as [OpenResult]
    expect(await play(host, one, [water(1)])).toEqual([last])
    expect(await atControl(host, parent.session).snapshot({})).toMatchObject({ end: { reason: 'grown' } })
  })

  it('goes on before a time limit that ran out, with a new one', async () => {
    const { host, clock } = createTestHost({ environments: [garden] })
    const parent = await host.open(null, asking({ environment: 'garden', limits: { seconds: 5 } }))
    await play(host, parent, [water(1)])
    clock.advance(6_000)
    const [late] = await play(host, parent, [water(1)])
    expect(late).toMatchObject({ report: { refused: 'time', end: { reason: 'time-limit' } } })
    await expect(fork(host, parent, { at: 2 })).rejects.toMatchObject({ code: 'episode-ended' })
    const [one] = (await fork(host, parent, { at: 1 })) as [OpenResult]
    expect(await play(host, one, [water(1)])).toMatchObject([{ report: { refused: null, end: null } }])
  })

  it('counts each fork against both bounds, and makes all or none', async () => {
    const { host, parent } = await openGarden([], { bounds: { sessions: 5 } })
    await expect(fork(host, parent, { count: 5 })).rejects.toMatchObject({
      code: 'capacity',
      message: expect.stringContaining('Of 5 sessions, 4 are free, and 5 were asked for.'),
    })
    expect((await host.list({ limit: 10 })).total).toBe(1)
    const raced = await Promise.allSettled([2, 2, 2].map((count) => fork(host, parent, { count })))
    expect(raced.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect((await host.list({ limit: 10 })).total).toBe(5)

    const quota = createTestHost({ environments: [garden], bounds: { sessionsPerPrincipal: 3 } }).host
    const annas = await quota.open('anna', asking({ environment: 'garden' }))
    const forkAnnas = (count: number) => atControl(quota, annas.session, 'anna').fork({ requestKey: freshKey(), count })
    await expect(forkAnnas(3)).rejects.toMatchObject({
      code: 'capacity',
      message: expect.stringContaining(
        'You have 1 of the 3 sessions that one principal may have, and 3 more were asked for.',
      ),
    })
    expect(await forkAnnas(2)).toHaveLength(2)
    await expect(forkAnnas(1)).rejects.toMatchObject({ code: 'capacity' })
    expect((await quota.list({ limit: 10 })).total).toBe(3)
  })

  it('leaves nothing if the store fails in the middle, and can be repeated', async () => {
    const store = createMemoryStore()
    let failAt = Number.POSITIVE_INFINITY
    const failing = creating(store, (session) =>
      failAt-- <= 0 ? Promise.reject(new Error('The disk is full.')) : store.create(session),
    )
    const { host, parent } = await openGarden([water(1)], { store: failing })
    const request = { requestKey: freshKey(), count: 200 }
    failAt = 100
    await expect(fork(host, parent, request)).rejects.toThrow('The disk is full.')
    expect(await store.count()).toBe(1)
    failAt = Number.POSITIVE_INFINITY
    expect(await fork(host, parent, request)).toHaveLength(200)
  })

  it('rejects instead of returning a wrong earlier state if the rules have changed or are not pure', async () => {
    const store = createMemoryStore()
    let bonus = 0
    const fickle = defineEnvironment({
      name: 'fickle',
      version: '1.0.0',
      description: 'Counts, sometimes.',
      params: z.object({}),
      state: { public: z.object({ count: z.int() }), private: z.object({ hidden: z.int() }) },
      start: () => ({ public: { count: 0 }, private: { hidden: 0 } }),
      observe: ({ count }) => `${count}`,
      tools: ({ tool }) => ({
        count: tool({
          description: 'Count.',
          input: z.object({}),
          play({ state, say }) {
            state.public.count += 1
            if (state.public.count === 2) state.private.hidden += bonus
            return say('Counted.')
          },
        }),
      }),
      rewards: { one: () => 1 },
    })
    const { host } = createTestHost({ environments: [fickle], store })
    const parent = await host.open(null, asking({ environment: 'fickle' }))
    await play(host, parent, [call('count'), call('count'), call('count')])
    bonus = 1
    for (const at of [0, 1]) expect(await fork(host, parent, { at })).toHaveLength(1)
    const diverged = { code: 'replay-diverged', details: { step: 2, field: 'stateHash' } }
    await expect(fork(host, parent, { at: 2 })).rejects.toMatchObject(diverged)
    await expect(atControl(host, parent.session).snapshot({ at: 2 })).rejects.toMatchObject(diverged)
    expect(await fork(host, parent)).toHaveLength(1)
  })

  it('names the steps at which a session can be forked', async () => {
    const { host, parent } = await openGarden([water(1)])
    await expect(fork(host, parent, { at: 2 })).rejects.toMatchObject({
      code: 'invalid-params',
      message: 'This session has no state after 2 steps: it starts after 0 and has answered 1.',
    })
  })

  it('finds a step deep in a long log, and stops searching once the caller has cancelled', async () => {
    const { host } = createTestHost({ environments: [garden] })
    const parent = await host.open(null, asking({ environment: 'garden', params: { maxHeight: 1_000 } }))
    const calls = Array.from({ length: 600 }, (_, i) => water((i % 3) + 1))
    const played = await play(host, parent, calls)
    expect(played).toHaveLength(600)
    const [one] = (await fork(host, parent, { at: 555 })) as [OpenResult]
    expect(await play(host, one, calls.slice(555))).toEqual(played.slice(555))
    const signal = AbortSignal.abort(new Error('Nobody waits.'))
    await expect(atControl(host, parent.session).snapshot({ at: 555, signal })).rejects.toThrow('Nobody waits.')
    const request = { at: 555, requestKey: freshKey() }
    const twins = [{ ...request, signal }, request, request].map((asked) => fork(host, parent, asked))
    await expect(twins[0]).rejects.toThrow('Nobody waits.')
    // Who makes the same request and does wait is not left alone.
    const [again, same] = (await Promise.all(twins.slice(1))) as [OpenResult[], OpenResult[]]
    expect(again).toHaveLength(1)
    expect(same).toEqual(again)
  })
})
