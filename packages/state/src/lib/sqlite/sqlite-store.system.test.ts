import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { contentId } from '@episodic/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SessionStore, StoredSession } from '../store/session-store.ts'
import { describeSessionStore } from '../testing/session-store.contract.ts'
import { sessionOf } from '../testing/session-store.samples.ts'
import { openSqliteStore } from './sqlite-store.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'episodic-sqlite-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe.each(['process', 'power'] as const)('a commit that outlives: %s', (durability) => {
  const paths = new WeakMap<SessionStore, string>()
  const open = async (path: string) => {
    const store = await openSqliteStore(path, { durability })
    paths.set(store, path)
    return store
  }
  describeSessionStore(`sqlite, ${durability}`, {
    open: () => open(join(folder, `${crypto.randomUUID()}.db`)),
    async reopen(store) {
      await store[Symbol.asyncDispose]()
      return open(paths.get(store) as string)
    },
  })
})

describe('openSqliteStore', () => {
  const at = (name: string) => join(folder, name)

  it('applies nothing of a turn in which one write fails, and goes on afterwards', async () => {
    await using store = await openSqliteStore(at('store.db'))
    await store.create(sessionOf('a'))
    const commit = (session: StoredSession) =>
      store.commit(session, { revision: 0, epoch: 1 }, { revision: 1, text: 'entry' })
    const results = await Promise.allSettled([
      commit(sessionOf('a', { revision: 1 })),
      store.create(sessionOf('b', { revision: 0.5 })),
    ])
    for (const result of results) expect(result).toMatchObject({ reason: { code: 'store-unavailable' } })
    expect(await store.list({ limit: 9 })).toEqual([sessionOf('a')])
    expect(await store.readLog('a', { after: 0, limit: 9 })).toEqual([])
    expect(await commit(sessionOf('a', { revision: 1 }))).toBe(true)
    expect(await store.readLog('a', { after: 0, limit: 9 })).toEqual([{ revision: 1, text: 'entry' }])
  })

  it('leaves nothing of a removed session in the file', async () => {
    const store = await openSqliteStore(at('store.db'))
    await store.create(sessionOf('a'))
    for (let revision = 1; revision <= 70; revision++)
      await store.commit(
        sessionOf('a', { revision }),
        { revision: revision - 1, epoch: 1 },
        { revision, text: `${revision}` },
      )
    await store.remove('a')
    await store[Symbol.asyncDispose]()
    using database = new DatabaseSync(at('store.db'))
    for (const table of ['session', 'log_entry', 'session_origin'])
      expect(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()).toEqual({ rows: 0 })
  })

  it('finishes what was asked for before it is closed', async () => {
    const store = await openSqliteStore(at('store.db'))
    const created = store.create(sessionOf('a'))
    await store[Symbol.asyncDispose]()
    expect(await created).toBe(true)
    await using again = await openSqliteStore(at('store.db'))
    expect(await again.count()).toBe(1)
  })

  it('refuses a second opener in the same process, until the first closes', async () => {
    const store = await openSqliteStore(at('store.db'))
    await expect(openSqliteStore(at('store.db'))).rejects.toMatchObject({ code: 'store-locked' })
    expect(await store.create(sessionOf('a'))).toBe(true)
    await store[Symbol.asyncDispose]()
    await using again = await openSqliteStore(at('store.db'))
    expect(await again.count()).toBe(1)
  })

  it('makes a file that only its owner may read, and one file when closed', async () => {
    const store = await openSqliteStore(at('store.db'))
    for (const name of ['store.db', 'store.db-wal', 'store.db-shm']) expect((await stat(at(name))).mode & 0o077).toBe(0)
    await store[Symbol.asyncDispose]()
    await expect(stat(at('store.db-wal'))).rejects.toThrow('ENOENT')
  })

  it('moves what was committed to the file while it is open, and answers meanwhile', async () => {
    await using store = await openSqliteStore(at('store.db'))
    await store.create(sessionOf('a'))
    const { size } = await stat(at('store.db'))
    let revision = 0
    await vi.waitFor(async () => {
      const writes = Array.from({ length: 100 }, () => {
        const expected = { revision: revision++, epoch: 1 }
        return store.commit(sessionOf('a', { revision }), expected, { revision, text: '{}'.padEnd(200) })
      })
      expect(await Promise.all(writes)).not.toContain(false)
      expect((await stat(at('store.db'))).size).toBeGreaterThan(size)
    }, 120_000)
  })

  it('rejects only the write of a damaged session, and applies the others of its turn', async () => {
    await using store = await openSqliteStore(at('store.db'))
    for (const id of ['a', 'b', 'c']) await store.create(sessionOf(id))
    await store[Symbol.asyncDispose]()
    writeDatabase(at('store.db'), `UPDATE session SET state = 'damaged' WHERE id = 'b'`)
    await using again = await openSqliteStore(at('store.db'))
    const commits = ['a', 'b', 'c'].map((id) => again.commit(sessionOf(id, { revision: 1 }), { revision: 0, epoch: 1 }))
    expect(await Promise.allSettled(commits)).toMatchObject([
      { value: true },
      { reason: { code: 'store-invalid', message: expect.stringContaining('session b') } },
      { value: true },
    ])
    expect(await again.read('c')).toMatchObject({ revision: 1 })
  })

  it('rejects with store-unavailable if it cannot use the file at all', async () => {
    for (const path of [join(at('no-folder'), 'store.db'), folder])
      await expect(openSqliteStore(path)).rejects.toMatchObject({
        code: 'store-unavailable',
        message: expect.stringContaining(path),
      })
  })

  it('leaves no page in the file of a removed session, nor a pool', async () => {
    const store = await openSqliteStore(at('store.db'))
    await store.create({ ...sessionOf('a'), pools: ['start'] }, { pool: 'start', pages: [pageOf(0)] })
    for (let revision = 1; revision <= 3; revision++) {
      const pages = Array.from({ length: 500 }, (_, index) => pageOf(revision * 1_000 + index))
      await store.commit(sessionOf('a', { revision }), { revision: revision - 1, epoch: 1 }, undefined, pages)
    }
    await store.remove('a')
    await store[Symbol.asyncDispose]()
    using database = new DatabaseSync(at('store.db'))
    for (const table of ['session', 'session_origin', 'pool', 'pool_user', 'page', 'page_index'])
      expect(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()).toEqual({ rows: 0 })
  })

  it('writes little more than its pages for a commit to a pool of many', async () => {
    const store = await openSqliteStore(at('store.db'))
    await store.create(sessionOf('a'))
    const many = Array.from({ length: 15_000 }, (_, index) => pageOf(index))
    await store.commit(sessionOf('a', { revision: 1 }), { revision: 0, epoch: 1 }, undefined, many)
    await store[Symbol.asyncDispose]()
    await using again = await openSqliteStore(at('store.db'))
    const commits = 400
    for (let revision = 2; revision < 2 + commits; revision++) {
      const pages = Array.from({ length: 6 }, (_, index) => pageOf(revision * 10_000 + index, 1_000))
      await again.commit(sessionOf('a', { revision }), { revision: revision - 1, epoch: 1 }, undefined, pages)
    }
    // An entry in an index for each of the six pages would write as many further pages of the file, 24 KiB.
    expect((await stat(at('store.db-wal'))).size / commits).toBeLessThan(32 * 1_024)
  })

  it('rejects what is not a store, names it, and leaves it unchanged', async () => {
    await writeFile(at('text.db'), 'A letter to somebody, long enough to be read as a header. '.repeat(20))
    writeDatabase(at('other-app.db'), 'CREATE TABLE person (name TEXT)')
    await (await openSqliteStore(at('future.db')))[Symbol.asyncDispose]()
    writeDatabase(at('future.db'), 'PRAGMA user_version = 99')
    for (const name of ['text.db', 'other-app.db', 'future.db']) {
      const before = await readFile(at(name))
      await expect(openSqliteStore(at(name))).rejects.toMatchObject({
        code: 'store-invalid',
        message: expect.stringContaining(at(name)),
      })
      expect((await readFile(at(name))).equals(before)).toBe(true)
    }
  })

  it('rejects a truncated or overwritten store', async () => {
    const fill = async (path: string) => {
      await using store = await openSqliteStore(path)
      for (let index = 0; index < 20; index++)
        await store.create({ ...sessionOf(`session-${index}`), state: 'x'.repeat(5_000) })
    }
    await fill(at('cut.db'))
    const { size } = await stat(at('cut.db'))
    await truncate(at('cut.db'), size / 2)

    await fill(at('overwritten.db'))
    const bytes = await readFile(at('overwritten.db'))
    await writeFile(at('overwritten.db'), bytes.fill(0xa5, 4_096, size / 2))

    for (const name of ['cut.db', 'overwritten.db'])
      await expect(openSqliteStore(at(name))).rejects.toMatchObject({
        code: 'store-invalid',
        message: expect.stringContaining(at(name)),
      })
  })
})

function pageOf(number: number, length = 0) {
  const text = `${number}`.padEnd(length)
  return { name: contentId(text), text }
}

function writeDatabase(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}
