import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { LogEntry, SessionStore } from '../store/session-store.ts'
import { describePages } from './session-pages.contract.ts'
import { describeAbilities, type SessionStoreUnderTest } from './session-store.abilities.ts'
import { anyOperations, applyTo, createStoreModel } from './session-store.model.ts'
import { entriesOf, ID, namesOf, play, sessionOf } from './session-store.samples.ts'

/** Registers the suite that every {@link SessionStore} passes: a test for each sentence, and a random model check. */
export function describeSessionStore(name: string, underTest: SessionStoreUnderTest): void {
  const { open } = underTest
  describe(`SessionStore contract: ${name}`, () => {
    const opened: SessionStore[] = []
    const keepTrack = (store: SessionStore): SessionStore => {
      opened.push(store)
      return store
    }
    const openStore = async () => keepTrack(await open())
    afterEach(async () => {
      for (const store of opened.splice(0)) await store[Symbol.asyncDispose]()
    })

    it('creates an absent session, and resolves with true', async () => {
      const store = await openStore()
      expect(await store.create(sessionOf(ID))).toBe(true)
      expect(await store.read(ID)).toEqual(sessionOf(ID))
      expect(await store.readLog(ID, { after: -1, limit: 10 })).toEqual([])
    })

    it('does not change a present session, and resolves with false', async () => {
      const store = await openStore()
      await store.create(sessionOf(ID))
      expect(await store.create(sessionOf(ID, { state: '"other"' }))).toBe(false)
      expect(await store.read(ID)).toEqual(sessionOf(ID))
    })

    it('lets one of several creators of a session win', async () => {
      const store = await openStore()
      const candidates = ['"a"', '"b"', '"c"'].map((state) => sessionOf(ID, { state }))
      const created = await Promise.all(candidates.map((session) => store.create(session)))
      expect(created.filter(Boolean)).toHaveLength(1)
      expect(await store.read(ID)).toEqual(candidates[created.indexOf(true)])
    })

    it('reads null for a session that was never created', async () => {
      const store = await openStore()
      expect(await store.read(ID)).toBeNull()
    })

    it('reads what the last commit wrote', async () => {
      const store = await openStore()
      await store.create(sessionOf(ID))
      const next = { id: ID, revision: 1, epoch: 2, touchedAt: 7, head: '{"h":"é \\u0000 🎲"}', state: '{}' }
      expect(await store.commit(next, { revision: 0, epoch: 1 })).toBe(true)
      const { origin, base, pool, pools } = sessionOf(ID)
      expect(await store.read(ID)).toEqual({ ...next, origin, base, pool, pools })
    })

    it.each([null, '', '{"b":"é \\u0000 🎲"}'])(
      'keeps the origin and the base (%j) that it was created with, whatever a commit brings',
      async (base) => {
        const store = await openStore()
        await store.create(sessionOf(ID, { base }))
        const changes = { revision: 1, origin: '"another"', base: '"another"' }
        await store.commit(sessionOf(ID, changes), { revision: 0, epoch: 1 })
        expect(await store.read(ID)).toEqual(sessionOf(ID, { revision: 1, base }))
        expect(await store.list({ limit: 1 })).toEqual([sessionOf(ID, { revision: 1, base })])
      },
    )

    it('keeps the base of each session, and of a removed one nothing', async () => {
      const store = await openStore()
      const shared = JSON.stringify({ text: 'long enough to be worth sharing '.repeat(700) })
      const forks = ['a', 'b', 'c'].map((id) => sessionOf(id, { state: shared, base: shared }))
      await Promise.all(forks.map((session) => store.create(session)))
      await play(store, 'a', { from: 0, to: 2 })
      const played = { ...forks[0], ...sessionOf('a', { revision: 2 }), base: shared }
      expect(await store.list({ limit: 9 })).toEqual([played, forks[1], forks[2]])
      await store.remove('a')
      await store.create(sessionOf('a'))
      expect(await store.read('a')).toEqual(sessionOf('a'))
    })

    it('returns copies, so a caller cannot change the store', async () => {
      const store = await openStore()
      const session = { ...sessionOf(ID) }
      await store.create(session)
      Object.assign(session, { state: '"changed"' })
      Object.assign((await store.read(ID)) ?? {}, { state: '"changed"' })
      const entry: LogEntry = { revision: 1, text: '"first"' }
      await store.commit(sessionOf(ID, { revision: 1 }), { revision: 0, epoch: 1 }, entry)
      Object.assign(entry, { text: '"changed"' })
      Object.assign((await store.list({ limit: 1 }))[0] ?? {}, { state: '"changed"' })
      Object.assign((await store.readLog(ID, { after: 0, limit: 1 }))[0] ?? {}, { text: '"changed"' })
      expect(await store.read(ID)).toEqual(sessionOf(ID, { revision: 1 }))
      expect(await store.readLog(ID, { after: 0, limit: 1 })).toEqual([{ revision: 1, text: '"first"' }])
    })

    it.each([
      { what: 'revision', expected: { revision: 1, epoch: 1 } },
      { what: 'epoch', expected: { revision: 0, epoch: 2 } },
    ])('writes neither session nor log entry where the stored $what is another', async ({ expected }) => {
      const store = await openStore()
      await store.create(sessionOf(ID))
      const next = sessionOf(ID, { revision: 5 })
      expect(await store.commit(next, expected, { revision: 5, text: '5' })).toBe(false)
      expect(await store.read(ID)).toEqual(sessionOf(ID))
      expect(await store.readLog(ID, { after: -1, limit: 10 })).toEqual([])
    })

    it('writes nothing for a session that is absent', async () => {
      const store = await openStore()
      expect(await store.commit(sessionOf(ID), { revision: 0, epoch: 1 }, { revision: 0, text: '0' })).toBe(false)
      expect(await store.read(ID)).toBeNull()
      await store.create(sessionOf(ID))
      expect(await store.readLog(ID, { after: -1, limit: 10 })).toEqual([])
    })

    it('decides each write of a turn on its own, in the order of the calls', async () => {
      const store = await openStore()
      const commit = (revision: number, expected: number, text: string) =>
        store.commit(sessionOf(ID, { revision }), { revision: expected, epoch: 1 }, { revision, text })
      const answers = await Promise.all([
        commit(1, 0, 'too early'),
        store.create(sessionOf(ID)),
        store.create(sessionOf(ID, { state: '"other"' })),
        commit(1, 0, 'first'),
        commit(1, 0, 'late'),
        commit(2, 1, 'second'),
        store.create(sessionOf('session-2')),
        store.remove('session-2'),
        store.remove('session-2'),
      ])
      expect(answers).toEqual([false, true, false, true, false, true, true, true, false])
      expect(await store.list({ limit: 9 })).toEqual([sessionOf(ID, { revision: 2 })])
      expect(await store.readLog(ID, { after: 0, limit: 9 })).toEqual([
        { revision: 1, text: 'first' },
        { revision: 2, text: 'second' },
      ])
    })

    it('applies each of many commits of one turn completely', async () => {
      const store = await openStore()
      const ids = Array.from({ length: 300 }, (_, index) => `session-${1_000 + index}`)
      await Promise.all(ids.map((id) => store.create(sessionOf(id))))
      // Every third expects a wrong revision.
      const expected = (index: number) => ({ revision: index % 3 === 0 ? 9 : 0, epoch: 1 })
      const answers = await Promise.all(
        ids.map((id, index) =>
          store.commit(sessionOf(id, { revision: 1 }), expected(index), { revision: 1, text: `${id}:1` }),
        ),
      )
      expect(answers).toEqual(ids.map((_, index) => index % 3 !== 0))
      for (const [index, id] of ids.entries()) {
        expect((await store.read(id))?.revision).toBe(index % 3 === 0 ? 0 : 1)
        expect(await store.readLog(id, { after: 0, limit: 9 })).toEqual(entriesOf(id, index % 3 === 0 ? [] : [1]))
      }
    })

    it('counts the sessions while they are created and removed at once', async () => {
      const store = await openStore()
      const ids = Array.from({ length: 50 }, (_, index) => `session-${100 + index}`)
      const created = await Promise.all([...ids, ...ids].map((id) => store.create(sessionOf(id))))
      expect(created.filter(Boolean)).toHaveLength(50)
      expect(await store.count()).toBe(50)
      const removed = await Promise.all([...ids.slice(20), ...ids.slice(10)].map((id) => store.remove(id)))
      expect(removed.filter(Boolean)).toHaveLength(40)
      expect(await store.count()).toBe(10)
      expect((await store.list({ limit: 99 })).map(({ id }) => id)).toEqual(ids.slice(0, 10))
    })

    it('loses no update: of writers that expect the same revision exactly one wins, with its entry', async () => {
      const store = await openStore()
      await store.create(sessionOf(ID))
      const writers = ['a', 'b', 'c', 'd']
      for (let revision = 1; revision <= 20; revision++) {
        const wrote = await Promise.all(
          writers.map((state) =>
            store.commit(
              sessionOf(ID, { revision, state }),
              { revision: revision - 1, epoch: 1 },
              { revision, text: state },
            ),
          ),
        )
        expect(wrote.filter(Boolean)).toHaveLength(1)
        const winner = writers[wrote.indexOf(true)]
        expect(await store.read(ID)).toEqual(sessionOf(ID, { revision, state: winner }))
        expect(await store.readLog(ID, { after: revision - 1, limit: 2 })).toEqual([{ revision, text: winner }])
      }
    })

    it('keeps sessions separate that are written at once', async () => {
      const store = await openStore()
      const ids = Array.from({ length: 40 }, (_, index) => `session-${100 + index}`)
      await Promise.all(ids.map((id) => store.create(sessionOf(id))))
      await Promise.all(ids.map((id) => play(store, id, { from: 0, to: 5 })))
      for (const id of ids) {
        expect((await store.read(id))?.revision).toBe(5)
        expect(await store.readLog(id, { after: 0, limit: 9 })).toEqual(entriesOf(id, [1, 2, 3, 4, 5]))
      }
    })

    it('removes a session with its log, and resolves with whether it existed', async () => {
      const store = await openStore()
      await store.create(sessionOf(ID))
      await store.create(sessionOf('session-2'))
      await play(store, ID, { from: 0, to: 70 })
      await play(store, 'session-2', { from: 0, to: 1 })
      expect(await store.remove(ID)).toBe(true)
      expect(await store.remove(ID)).toBe(false)
      expect(await store.read(ID)).toBeNull()
      expect(await store.readLog(ID, { after: -1, limit: 10 })).toEqual([])
      expect(await store.commit(sessionOf(ID, { revision: 71 }), { revision: 70, epoch: 1 })).toBe(false)
      expect(await store.create(sessionOf(ID))).toBe(true)
      expect(await store.readLog(ID, { after: -1, limit: 10 })).toEqual([])
      expect(await store.readLog('session-2', { after: -1, limit: 10 })).toEqual(entriesOf('session-2', [1]))
    })

    it('pages through a long log in order, gaps included', async () => {
      const store = await openStore()
      await store.create(sessionOf(ID))
      const logged: number[] = []
      for (let revision = 1; revision <= 150; revision++) {
        const silent = revision % 7 === 0 || (revision > 60 && revision < 110)
        if (!silent) logged.push(revision)
        const next = sessionOf(ID, { revision })
        await store.commit(
          next,
          { revision: revision - 1, epoch: 1 },
          silent ? undefined : { revision, text: `${ID}:${revision}` },
        )
      }
      for (const limit of [1, 7, 64, 1_000]) {
        const read: LogEntry[] = []
        for (;;) {
          const page = await store.readLog(ID, { after: read.at(-1)?.revision ?? 0, limit })
          expect(page.length).toBeLessThanOrEqual(limit)
          read.push(...page)
          if (page.length < limit) break
        }
        expect(read).toEqual(entriesOf(ID, logged))
      }
      for (const after of [0, 31, 32, 33, 59, 85, 149, 150, 999])
        expect(await store.readLog(ID, { after, limit: 3 })).toEqual(
          entriesOf(ID, logged.filter((revision) => revision > after).slice(0, 3)),
        )
    })

    it('lists sessions in the order of their ids, a page at a time, and counts them', async () => {
      const store = await openStore()
      const ids = ['b', 'B', 'a', 'ab', '10', '9', '-', '_']
      for (const id of ids) await store.create(sessionOf(id))
      const sorted = [...ids].sort()
      expect(await store.count()).toBe(ids.length)
      expect(await store.list({ limit: 100 })).toEqual(sorted.map((id) => sessionOf(id)))
      expect((await store.list({ limit: 3 })).map(({ id }) => id)).toEqual(sorted.slice(0, 3))
      expect((await store.list({ after: sorted[2], limit: 3 })).map(({ id }) => id)).toEqual(sorted.slice(3, 6))
      expect(await store.list({ after: sorted.at(-1), limit: 3 })).toEqual([])
    })

    it('lists idle sessions, longest idle first', async () => {
      const store = await openStore()
      const touched = { a: 30, b: 10, c: 20, d: 20, e: 40 }
      for (const [id, touchedAt] of Object.entries(touched)) await store.create(sessionOf(id, { touchedAt }))
      expect(await store.idle({ before: 40, limit: 10 })).toEqual(['b', 'c', 'd', 'a'])
      expect(await store.idle({ before: 40, limit: 2 })).toEqual(['b', 'c'])
      expect(await store.idle({ before: 10, limit: 10 })).toEqual([])
      await store.commit(sessionOf('b', { revision: 1, touchedAt: 50 }), { revision: 0, epoch: 1 })
      expect(await store.idle({ before: 100, limit: 10 })).toEqual(['c', 'd', 'a', 'e', 'b'])
    })

    it('is writable while it works, and keeps nothing of the check', async () => {
      await using store = await open()
      await store.checkWritable()
      expect(await store.count()).toBe(0)
      expect(await store.list({ limit: 9 })).toEqual([])
    })

    it('has a secret of 32 bytes that is its own and stays the same', async () => {
      const [store, other] = [await openStore(), await openStore()]
      const secret = await store.secret()
      expect(secret).toBeInstanceOf(Uint8Array)
      expect(secret).toHaveLength(32)
      expect(await other.secret()).not.toEqual(secret)
      const before = Uint8Array.from(secret)
      secret.fill(0)
      expect(await store.secret()).toEqual(before)
    })

    it('rejects every call after disposal, and may be disposed of twice', async () => {
      const store = await openStore()
      await store.create(sessionOf(ID))
      await store[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      const calls = [
        () => store.secret(),
        () => store.create(sessionOf('session-2')),
        () => store.read(ID),
        () => store.commit(sessionOf(ID, { revision: 1 }), { revision: 0, epoch: 1 }),
        () => store.remove(ID),
        () => store.readLog(ID, { after: 0, limit: 1 }),
        () => store.list({ limit: 1 }),
        () => store.idle({ before: 1, limit: 1 }),
        () => store.count(),
        () => store.readPages(ID, namesOf('a')),
        () => store.countPages(),
      ]
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'store-unavailable' })
    })

    it('answers any sequence of operations as the model does', async () => {
      await fc.assert(
        fc.asyncProperty(anyOperations, async (operations) => {
          await using store = await open()
          const model = createStoreModel()
          for (const operation of operations)
            expect(await applyTo(store, operation)).toEqual(await applyTo(model, operation))
        }),
        { numRuns: 50 },
      )
    })

    describePages(underTest, openStore, keepTrack)
    describeAbilities(underTest, openStore, keepTrack)
  })
}
