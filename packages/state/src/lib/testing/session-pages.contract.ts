import { expect, it, vi } from 'vitest'
import type { SessionStore } from '../store/session-store.ts'
import type { SessionStoreUnderTest } from './session-store.abilities.ts'
import { entriesOf, ID, namesOf, pagesOf, play, sessionOf } from './session-store.samples.ts'

/** A pool that sessions begin with, and its pages. */
const START = { pool: 'start', pages: pagesOf('s1', 's2', 's3') }

/** Registers the tests of the sentences about pages. The functions are those of `describeAbilities`. */
export function describePages(
  { reopen, share, openExpiring }: SessionStoreUnderTest,
  openStore: () => Promise<SessionStore>,
  keepTrack: (store: SessionStore) => SessionStore,
): void {
  const commitPages = async (store: SessionStore, id: string, ...texts: string[]) => {
    const revision = (await store.read(id))?.revision ?? 0
    const next = sessionOf(id, { revision: revision + 1 })
    expect(await store.commit(next, { revision, epoch: 1 }, undefined, pagesOf(...texts))).toBe(true)
  }
  const fork = (id: string, ...pools: string[]) => sessionOf(id, { pools })

  it('writes pages with a commit, and reads them by their names, in the order of these', async () => {
    const store = await openStore()
    await store.create(sessionOf(ID))
    expect(await store.countPages()).toBe(0)
    await commitPages(store, ID, '{"p":"é \\u0000 🎲"}', 'x'.repeat(10_000))
    await commitPages(store, ID, '3')
    const asked = namesOf('3', 'another', 'x'.repeat(10_000), '3', '{"p":"é \\u0000 🎲"}')
    const answer = ['3', null, 'x'.repeat(10_000), '3', '{"p":"é \\u0000 🎲"}']
    expect(await store.readPages(ID, asked)).toEqual(answer)
    expect(await store.readPages(ID, [])).toEqual([])
    expect(await store.readPages('absent', asked)).toEqual(asked.map(() => null))
    expect(await store.countPages()).toBe(3)
  })

  it('leaves a page as it is that is written again', async () => {
    const store = await openStore()
    await store.create(sessionOf(ID))
    const [page = { name: '', text: '' }] = pagesOf('1')
    for (const revision of [1, 2])
      await store.commit(sessionOf(ID, { revision }), { revision: revision - 1, epoch: 1 }, undefined, [
        page,
        { ...page, text: 'other' },
      ])
    expect(await store.readPages(ID, [page.name])).toEqual(['1'])
    expect(await store.countPages()).toBe(1)
  })

  it.each([
    { what: 'revision', expected: { revision: 1, epoch: 1 } },
    { what: 'epoch', expected: { revision: 0, epoch: 2 } },
  ])('writes no page where the stored $what is another', async ({ expected }) => {
    const store = await openStore()
    await store.create(sessionOf(ID))
    const next = sessionOf(ID, { revision: 5 })
    expect(await store.commit(next, expected, { revision: 5, text: '5' }, pagesOf('1'))).toBe(false)
    expect(await store.readPages(ID, namesOf('1'))).toEqual([null])
    expect(await store.countPages()).toBe(0)
  })

  it('keeps the text of the state in the entries that have one', async () => {
    const store = await openStore()
    await store.create(sessionOf(ID))
    const entries = [{ revision: 1, text: '1', state: '{"é":"🎲"}' }, ...entriesOf(ID, [2])]
    for (const entry of entries)
      await store.commit(sessionOf(ID, entry), { revision: entry.revision - 1, epoch: 1 }, entry)
    expect(await store.readLog(ID, { after: 0, limit: 9 })).toEqual(entries)
  })

  it('creates no session over pages that it lacks, and with them writes them once', async () => {
    const store = await openStore()
    await expect(store.create(fork('a', 'start'))).rejects.toMatchObject({
      code: 'pages-missing',
      details: { pool: 'start' },
    })
    expect([await store.read('a'), await store.count(), await store.countPages()]).toEqual([null, 0, 0])
    expect(await store.create(fork('a', 'start'), START)).toBe(true)
    expect(await store.create(fork('b', 'start'))).toBe(true)
    expect(await store.create(fork('c', 'start'), { pool: 'start', pages: pagesOf('another') })).toBe(true)
    for (const id of ['a', 'b', 'c'])
      expect(await store.readPages(id, namesOf('s1', 's3', 'another'))).toEqual(['s1', 's3', null])
    expect(await store.countPages()).toBe(3)
    expect(await store.list({ limit: 9 })).toEqual(['a', 'b', 'c'].map((id) => fork(id, 'start')))
    await expect(store.create(fork('d', 'start', 'other'))).rejects.toMatchObject({ details: { pool: 'other' } })
    await expect(store.create(fork('d', 'other'), START)).rejects.toMatchObject({ code: 'pages-missing' })
    expect(await store.read('d')).toBeNull()
  })

  it('does not ask for the pages of a session that is present', async () => {
    const store = await openStore()
    await store.create(sessionOf(ID))
    expect(await store.create(fork(ID, 'start'))).toBe(false)
    expect(await store.create(fork(ID, 'start'), START)).toBe(false)
    expect(await store.read(ID)).toEqual(sessionOf(ID))
    expect(await store.countPages()).toBe(0)
  })

  it('decides each creation of a turn on its own', async () => {
    const store = await openStore()
    const calls = [
      store.create(sessionOf('a')),
      store.create(fork('b', 'start')),
      store.create(fork('c', 'start'), START),
      store.create(fork('b', 'start'), START),
      store.create(fork('d', 'start')),
      store.create(fork('e', 'absent'), START),
    ]
    const answers = await Promise.allSettled(calls)
    expect(answers.map((answer) => (answer.status === 'rejected' ? answer.reason.code : answer.value))).toEqual([
      true,
      'pages-missing',
      true,
      true,
      true,
      'pages-missing',
    ])
    expect((await store.list({ limit: 9 })).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
    expect(await store.countPages()).toBe(3)
  })

  it('writes into the pool of the session alone', async () => {
    const store = await openStore()
    for (const id of ['a', 'b']) await store.create(fork(id, 'start'), START)
    await commitPages(store, 'a', 'mine', 's1')
    expect(await store.readPages('a', namesOf('mine', 's1'))).toEqual(['mine', 's1'])
    expect(await store.readPages('b', namesOf('mine', 's1'))).toEqual([null, 's1'])
    await store.create(fork('c', 'a.0', 'start'))
    await commitPages(store, 'c', 'its')
    expect(await store.readPages('c', namesOf('mine', 'its'))).toEqual(['mine', 'its'])
    expect(await store.readPages('a', namesOf('its'))).toEqual([null])
  })

  it('makes the own pool of a session with its first page, or at once if it names others', async () => {
    const store = await openStore()
    await store.create(sessionOf('a'))
    await expect(store.create(fork('b', 'a.0'))).rejects.toMatchObject({ code: 'pages-missing' })
    await play(store, 'a', { from: 0, to: 1 })
    await expect(store.create(fork('b', 'a.0'))).rejects.toMatchObject({ code: 'pages-missing' })
    await commitPages(store, 'a', '1')
    expect(await store.create(fork('b', 'a.0'))).toBe(true)
    expect(await store.create(fork('c', 'b.0', 'a.0'))).toBe(true)
    await commitPages(store, 'b', '2')
    expect(await store.readPages('c', namesOf('1', '2'))).toEqual(['1', '2'])
  })

  it.each([
    { order: ['a', 'b', 'c'], left: [7, 3, 1] },
    { order: ['c', 'b', 'a'], left: [6, 5, 1] },
    { order: ['b', 'c', 'a'], left: [6, 5, 1] },
  ])('keeps a pool as long as one of its users, and none of its pages after that ($order)', async ({ order, left }) => {
    const store = await openStore()
    await store.create(fork('a', 'start'), START)
    await commitPages(store, 'a', 'of a')
    await store.create(fork('b', 'start'))
    await commitPages(store, 'b', 'of b')
    await store.create(fork('c', 'a.0'))
    await commitPages(store, 'c', 'of c')
    await store.create(sessionOf('other'))
    await commitPages(store, 'other', 'of a')
    expect(await store.countPages()).toBe(7)
    for (const [index, id] of order.entries()) {
      expect(await store.remove(id)).toBe(true)
      expect(await store.countPages()).toBe(left[index])
    }
    expect(await store.readPages('other', namesOf('of a'))).toEqual(['of a'])
    for (const pool of ['start', 'a.0', 'b.0', 'c.0'])
      await expect(store.create(fork('d', pool))).rejects.toMatchObject({ code: 'pages-missing' })
  })

  it('gives a session that is created again another pool than that of the removed one, which a fork still reads', async () => {
    const store = await openStore()
    await store.create(sessionOf('a', { pool: 'a.1' }))
    await commitPages(store, 'a', 'old')
    await store.create(fork('b', 'a.1'))
    await store.remove('a')
    const again = sessionOf('a', { pool: 'a.2' })
    await store.create(again)
    await commitPages(store, 'a', 'new')
    expect(await store.read('a')).toEqual({ ...sessionOf('a', { revision: 1 }), pool: 'a.2' })
    const names = namesOf('old', 'new')
    expect(await store.readPages('a', names)).toEqual([null, 'new'])
    expect(await store.readPages('b', names)).toEqual(['old', null])
    await store.remove('b')
    expect(await store.countPages()).toBe(1)
    await expect(store.create(fork('c', 'a.1'))).rejects.toMatchObject({ code: 'pages-missing' })
    expect(await store.readPages('a', names)).toEqual([null, 'new'])
  })

  it('reads thousands of pages at once, of several pools', async () => {
    const store = await openStore()
    const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `${from + index}`)
    await store.create(fork('a', 'start'), { pool: 'start', pages: pagesOf(...texts(0, 4_000)) })
    for (let from = 4_000; from < 7_000; from += 300) await commitPages(store, 'a', ...texts(from, from + 300))
    const asked = texts(0, 8_000).toSorted((a, b) => a.length - b.length || (a > b ? -1 : 1))
    const answer = asked.map((text) => (Number(text) < 7_000 ? text : null))
    expect(await store.readPages('a', namesOf(...asked))).toEqual(answer)
    expect(await store.countPages()).toBe(7_000)
    await store.remove('a')
    expect(await store.countPages()).toBe(0)
  })

  it('writes the pages once with which many sessions begin at once', async () => {
    const store = await openStore()
    const ids = Array.from({ length: 50 }, (_, index) => `session-${100 + index}`)
    expect(await Promise.all(ids.map((id) => store.create(fork(id, 'start'), START)))).not.toContain(false)
    expect(await store.countPages()).toBe(3)
    await Promise.all(ids.map((id) => commitPages(store, id, `of ${id}`, 'of all')))
    for (const id of ids)
      expect(await store.readPages(id, namesOf('s2', `of ${id}`, 'of all'))).toEqual(['s2', `of ${id}`, 'of all'])
    expect(await store.countPages()).toBe(103)
    await Promise.all(ids.map((id) => store.remove(id)))
    expect(await store.countPages()).toBe(0)
  })

  it('keeps a pool without users while it is held, and only then', async () => {
    const store = await openStore()
    await store.hold(['start'])
    await store.create(fork('a', 'start'), START)
    await store.remove('a')
    expect(await store.countPages()).toBe(0)
    for (const id of ['a', 'b']) await store.create(fork(id, 'start'), START)
    await store.create(fork('c', 'other'), { pool: 'other', pages: pagesOf('o') })
    await store.hold(['start', 'other', 'absent'])
    for (const id of ['a', 'b', 'c']) await store.remove(id)
    expect(await store.countPages()).toBe(0)
    expect(await store.create(fork('d', 'start'))).toBe(true)
    expect(await store.readPages('d', namesOf('s2'))).toEqual(['s2'])
    await expect(store.create(fork('e', 'absent'))).rejects.toMatchObject({ code: 'pages-missing' })
    await store.hold(['other'])
    expect(await store.countPages()).toBe(3)
    await store.remove('d')
    expect(await store.countPages()).toBe(0)
    await expect(store.create(fork('e', 'start'))).rejects.toMatchObject({ code: 'pages-missing' })
    expect(await store.create(fork('e', 'other'))).toBe(true)
    expect(await store.countPages()).toBe(1)
    await store.hold([])
    await store.remove('e')
    await expect(store.create(fork('f', 'other'))).rejects.toMatchObject({ code: 'pages-missing' })
  })

  if (reopen && !share) {
    it('holds no pool any more for a process that has died', async () => {
      const store = await openStore()
      await store.create(fork('a', 'start'), START)
      await store.hold(['start'])
      await store.remove('a')
      const again = keepTrack(await reopen(store))
      await again.create(fork('a', 'other'), { pool: 'other', pages: pagesOf('o') })
      await again.hold(['other'])
      expect(await again.countPages()).toBe(1)
    })
  }

  if (reopen) {
    it('keeps pages and their users when it is closed and opened again', async () => {
      const store = await openStore()
      await store.create(fork('a', 'start'), START)
      await store.create(fork('b', 'a.0', 'start'))
      const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `${from + index}`)
      for (let from = 0; from < 1_500; from += 250) await commitPages(store, 'a', ...texts(from, from + 250))
      const again = keepTrack(await reopen(store))
      expect(await again.countPages()).toBe(1_503)
      await commitPages(again, 'a', ...texts(1_400, 1_600))
      expect(await again.countPages()).toBe(1_603)
      expect(await again.readPages('b', namesOf(...texts(0, 1_600)))).toEqual(texts(0, 1_600))
      expect(await again.list({ limit: 9 })).toMatchObject([{ pools: ['start'] }, { pools: ['a.0', 'start'] }])
      await again.remove('a')
      expect(await again.readPages('b', namesOf('0', '1599', 's1'))).toEqual(['0', '1599', 's1'])
      await again.remove('b')
      expect(await again.countPages()).toBe(0)
    })
  }

  if (share) {
    it('shares its pools with other openers', async () => {
      const store = await openStore()
      const other = keepTrack(await share(store))
      await store.create(fork('a', 'start'), START)
      expect(await other.create(fork('b', 'start', 'a.0'))).toBe(true)
      await commitPages(other, 'a', '1')
      expect(await store.readPages('b', namesOf('1', 's1'))).toEqual(['1', 's1'])
      await other.remove('a')
      await store.remove('b')
      expect(await other.countPages()).toBe(0)
    })
  }

  if (openExpiring) {
    it('keeps no page of sessions that have expired', async () => {
      const store = keepTrack(await openExpiring())
      for (const id of ['a', 'b']) expect(await store.create(fork(id, 'start'), START)).toBe(true)
      await store.hold(['start'])
      // Whether it is in time or not.
      await store.commit(sessionOf('b', { revision: 1 }), { revision: 0, epoch: 1 }, undefined, pagesOf('1'))
      await vi.waitFor(async () => expect(await store.countPages()).toBe(0), { timeout: 120_000, interval: 20 })
      for (const id of ['a', 'b']) expect(await store.readPages(id, namesOf('s1', '1'))).toEqual([null, null])
      await expect(store.create(fork('c', 'start'))).rejects.toMatchObject({ code: 'pages-missing' })
      expect(await store.create(fork('c', 'start'), START)).toBe(true)
    })
  }
}
