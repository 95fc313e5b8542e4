import { describe, expect, it, vi } from 'vitest'
import type { SessionStore, StoredSession } from '../store/session-store.ts'
import { entriesOf, ID, namesOf, play, sessionOf } from './session-store.samples.ts'

export interface SessionStoreUnderTest {
  open(): SessionStore | Promise<SessionStore>
  /** Disposes of `store` and opens it again; left out for a store that keeps nothing. */
  reopen?(store: SessionStore): Promise<SessionStore>
  /** Opens `store` once more, as another process would; left out for a store that only one opener may have. */
  share?(store: SessionStore): Promise<SessionStore>
  /** Opens a new store in which sessions expire soon, by themselves; left out for a store without expiry. */
  openExpiring?(): Promise<SessionStore>
  /** Makes `store` fail, as a broken disk does, and resolves with a function that repairs it; optional. */
  fail?(store: SessionStore): Promise<() => Promise<void>>
}

/** Registers the tests of optional abilities. `openStore` opens a store, `keepTrack` takes one over. */
export function describeAbilities(
  { reopen, share, openExpiring, fail }: SessionStoreUnderTest,
  openStore: () => Promise<SessionStore>,
  keepTrack: (store: SessionStore) => SessionStore,
): void {
  if (reopen) {
    it('keeps everything when it is closed and opened again', async () => {
      const store = await openStore()
      for (const id of ['a', 'b', 'c']) await store.create(sessionOf(id))
      await play(store, 'a', { from: 0, to: 40 })
      await play(store, 'b', { from: 0, to: 3 })
      await store.remove('c')
      const secret = await store.secret()
      const sessions = await store.list({ limit: 10 })

      const again = keepTrack(await reopen(store))
      expect(await again.secret()).toEqual(secret)
      expect(await again.list({ limit: 10 })).toEqual(sessions)
      expect(await again.count()).toBe(2)
      await play(again, 'a', { from: 40, to: 45 })
      const revisions = Array.from({ length: 45 }, (_, index) => index + 1)
      expect(await again.readLog('a', { after: 0, limit: 100 })).toEqual(entriesOf('a', revisions))
      expect(await again.readLog('b', { after: 0, limit: 100 })).toEqual(entriesOf('b', [1, 2, 3]))
    })
  }

  if (share) {
    describe('shared by several openers', () => {
      const openTwo = async () => {
        const store = await openStore()
        return [store, keepTrack(await share(store))] as const
      }

      it('is one store, with one secret', async () => {
        const [store, other] = await openTwo()
        expect(await other.secret()).toEqual(await store.secret())
        await store.create(sessionOf(ID))
        expect(await other.create(sessionOf(ID))).toBe(false)
        await play(other, ID, { from: 0, to: 3 })
        expect(await store.read(ID)).toEqual(sessionOf(ID, { revision: 3 }))
        expect(await store.readLog(ID, { after: 0, limit: 9 })).toEqual(entriesOf(ID, [1, 2, 3]))
        expect(await store.remove(ID)).toBe(true)
        expect(await other.count()).toBe(0)
      })

      it('loses no update of any opener', async () => {
        const openers = await openTwo()
        await openers[0].create(sessionOf(ID))
        // Each reads and commits what follows, until it has got through so many times.
        const wins = 50
        const texts = await Promise.all(
          openers.map(async (store, opener) => {
            const written: string[] = []
            while (written.length < wins) {
              const { revision } = (await store.read(ID)) as StoredSession
              const text = `${opener}:${revision}`
              const next = { revision: revision + 1, state: text }
              if (await store.commit(sessionOf(ID, next), { revision, epoch: 1 }, { revision: revision + 1, text }))
                written.push(text)
            }
            return written
          }),
        )
        const log = await openers[0].readLog(ID, { after: 0, limit: 1_000 })
        expect(log.map(({ revision }) => revision)).toEqual(Array.from({ length: 2 * wins }, (_, index) => index + 1))
        expect(log.map(({ text }) => text).sort()).toEqual(texts.flat().sort())
        expect(await openers[1].read(ID)).toEqual(sessionOf(ID, { revision: 2 * wins, state: log.at(-1)?.text }))
      })

      it('counts the sessions of all openers', async () => {
        const openers = await openTwo()
        const ids = Array.from({ length: 50 }, (_, index) => `session-${100 + index}`)
        await Promise.all(openers.flatMap((store) => ids.map((id) => store.create(sessionOf(id)))))
        for (const store of openers) expect(await store.count()).toBe(50)
      })
    })
  }

  if (openExpiring) {
    it('treats an expired session like a removed one', async () => {
      const store = keepTrack(await openExpiring())
      const ids = ['a', 'b', 'c']
      for (const id of ids) await store.create(sessionOf(id))
      await store.commit(sessionOf('a', { revision: 1 }), { revision: 0, epoch: 1 }, { revision: 1, text: 'a:1' })
      for (const id of ids)
        await vi.waitFor(async () => expect(await store.read(id)).toBeNull(), { timeout: 120_000, interval: 20 })
      expect(await store.count()).toBe(0)
      expect(await store.list({ limit: 9 })).toEqual([])
      expect(await store.idle({ before: 9, limit: 9 })).toEqual([])
      expect(await store.readLog('a', { after: 0, limit: 9 })).toEqual([])
      expect(await store.remove('a')).toBe(false)
      expect(await store.commit(sessionOf('a', { revision: 2 }), { revision: 1, epoch: 1 })).toBe(false)
      expect(await store.create(sessionOf('a'))).toBe(true)
      expect(await store.readLog('a', { after: 0, limit: 9 })).toEqual([])
    })
  }

  if (fail) {
    it('rejects with store-unavailable while it cannot work, and then goes on with all acknowledged writes', async () => {
      const store = await openStore()
      await store.create(sessionOf(ID))
      await play(store, ID, { from: 0, to: 3 })
      const secret = await store.secret()
      const mend = await fail(store)
      const calls = [
        () => store.create(sessionOf('session-2')),
        () => store.read(ID),
        () => store.commit(sessionOf(ID, { revision: 4 }), { revision: 3, epoch: 1 }, { revision: 4, text: 'lost' }),
        () => store.remove(ID),
        () => store.readLog(ID, { after: 0, limit: 1 }),
        () => store.list({ limit: 1 }),
        () => store.idle({ before: 1, limit: 1 }),
        () => store.count(),
        () => store.readPages(ID, namesOf('a')),
        () => store.hold(['start']),
        () => store.countPages(),
      ]
      const failed = await Promise.allSettled(calls.map((call) => call()))
      for (const result of failed) expect(result).toMatchObject({ reason: { code: 'store-unavailable' } })
      await mend()
      const read = () => store.read(ID)
      expect(await vi.waitFor(read, { timeout: 120_000, interval: 20 })).toEqual(sessionOf(ID, { revision: 3 }))
      expect(await store.secret()).toEqual(secret)
      expect(await store.count()).toBe(1)
      await play(store, ID, { from: 3, to: 5 })
      expect(await store.readLog(ID, { after: 0, limit: 9 })).toEqual(entriesOf(ID, [1, 2, 3, 4, 5]))
    })
  }
}
