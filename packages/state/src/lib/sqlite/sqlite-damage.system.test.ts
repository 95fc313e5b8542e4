import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { allWrittenPages, writtenPages } from '../fixtures/written-pages.fixture.ts'
import { StateError } from '../state-error.ts'
import type { SessionStore } from '../store/session-store.ts'
import { sessionOf } from '../testing/session-store.samples.ts'
import { openSqliteStore } from './sqlite-store.ts'

const WRITER = fileURLToPath(new URL('../fixtures/sqlite-writer.fixture.ts', import.meta.url))

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'episodic-sqlite-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('a SQLite store whose file was damaged', () => {
  const SESSIONS = 12
  const ids = Array.from({ length: SESSIONS }, (_, index) => `session-${10 + index}`)

  async function writeStore(path: string): Promise<void> {
    await using store = await openSqliteStore(path)
    for (const [index, id] of ids.entries()) {
      await store.create(sessionAt(id, 0), BEGUN)
      for (let revision = 1; revision <= index; revision++) {
        const expected = { revision: revision - 1, epoch: 1 }
        await store.commit(sessionAt(id, revision), expected, entryOf(id, revision), writtenPages(id, revision))
      }
    }
  }

  /** Calls every method of a store, and resolves with each answer or error code. */
  async function sayAll(store: SessionStore): Promise<unknown[]> {
    const questions: (() => Promise<unknown>)[] = [
      () => store.secret(),
      () => store.list({ limit: 99 }),
      () => store.idle({ before: 1_000, limit: 99 }),
      () => store.count(),
      ...ids.map((id) => () => store.read(id)),
      ...ids.map((id) => () => store.readLog(id, { after: 0, limit: 99 })),
      ...ids.map((id) => () => store.readLog(id, { after: 2, limit: 2 })),
      ...ids.map((id, index) => () => readWritten(store, id, index)),
    ]
    const answers: unknown[] = []
    for (const ask of questions) answers.push(await ask().catch(codeOf))
    return answers
  }

  it('never returns wrong data after a flipped bit: opens undamaged, or rejects (200 bits)', async () => {
    const path = join(folder, 'store.db')
    await writeStore(path)
    const sound = await readFile(path)
    const store = await openSqliteStore(path)
    const truth = await sayAll(store)
    await store[Symbol.asyncDispose]()
    let refused = 0
    await fc.assert(
      fc.asyncProperty(fc.nat(sound.length - 1), fc.nat(7), async (place, bit) => {
        const damaged = Buffer.from(sound)
        damaged[place] = (damaged[place] ?? 0) ^ (1 << bit)
        await rm(`${path}-wal`, { force: true })
        await writeFile(path, damaged)
        const store = await openSqliteStore(path).catch(codeOf)
        if (typeof store === 'string') {
          // One bit of the header makes the file read-only.
          expect(store).toMatch(place === 18 ? /^store-(invalid|unavailable)$/ : /^store-invalid$/)
          refused += 1
          return
        }
        await using opened = store
        for (const [index, answer] of (await sayAll(opened)).entries())
          if (answer === 'store-invalid') refused += 1
          else expect(answer).toEqual(truth[index])
      }),
      { numRuns: 200 },
    )
    expect(refused).toBeGreaterThan(0)
  })
})

describe.skipIf(inject('programs').strace === null)(
  'a SQLite store on a failing disk (needs strace: apt-get install strace)',
  () => {
    it.each([
      { call: 'pwrite64', error: 'EIO', durability: 'process' },
      { call: 'pwrite64', error: 'ENOSPC', durability: 'process' },
      { call: 'fsync,fdatasync', error: 'EIO', durability: 'power' },
      { call: 'fsync,fdatasync', error: 'ENOSPC', durability: 'power' },
    ])('acknowledges nothing that $call fails with $error, applies none of it in part, and goes on', async (fault) => {
      const path = join(folder, 'store.db')
      await (await openSqliteStore(path))[Symbol.asyncDispose]()
      const inject = `inject=${fault.call}:error=${fault.error}:when=30..35`
      const { stdout, stderr, status } = spawnSync(
        'strace',
        ['-f', '-qq', '-o', '/dev/null', '-P', `${path}-wal`, '-e', inject].concat([
          process.execPath,
          WRITER,
          'endure',
          path,
          fault.durability,
        ]),
        { encoding: 'utf8' },
      )
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      const outcomes: { id: string; outcome: unknown }[] = JSON.parse(stdout)
      const failures = outcomes.filter(({ outcome }) => outcome !== true)
      expect(failures.length).toBeGreaterThan(0)
      for (const { outcome } of failures) expect(outcome).toBe('store-unavailable')
      // It went on afterwards.
      expect(outcomes.at(-1)).toMatchObject({ outcome: true })

      await using store = await openSqliteStore(path)
      expect(await store.countPages()).toBe(4 * outcomes.filter(({ outcome }) => outcome === true).length)
      for (const id of new Set(outcomes.map((outcome) => outcome.id))) {
        const acknowledged = outcomes.filter((outcome) => outcome.id === id && outcome.outcome === true).length
        const session = await store.read(id)
        expect(session).toMatchObject({ revision: acknowledged, state: `${id}:${acknowledged}` })
        const log = await store.readLog(id, { after: 0, limit: 1_000 })
        expect(log).toEqual(
          Array.from({ length: acknowledged }, (_, index) => ({ revision: index + 1, text: `${id}:${index + 1}` })),
        )
        const pages = allWrittenPages(id, acknowledged)
        const names = pages.map(({ name }) => name)
        expect(await store.readPages(id, names)).toEqual(pages.map(({ text }) => text))
      }
    })
  },
)

function sessionAt(id: string, revision: number) {
  const state = JSON.stringify({ id, revision, text: 'long enough to fill some pages '.repeat(20) })
  // Every other session has a base.
  const base = Number(id.slice(-1)) % 2 === 1 ? `{"began":"${id}","text":"${'somewhere else '.repeat(40)}"}` : null
  const origin = `{"of":"${id}"}`
  return sessionOf(id, { revision, touchedAt: revision, origin, base, head: `{"at":${revision}}`, state })
}

/** Every third session has a beginning that it shares. */
function poolsOf(id: string): string[] {
  return Number(id.slice(-1)) % 3 === 0 ? [BEGUN.pool] : []
}

function entryOf(id: string, revision: number) {
  const entry = { revision, text: JSON.stringify({ id, revision }) }
  return revision % 2 === 0 ? entry : { ...entry, state: `{"at":${revision}}` }
}

/** The pool with which some sessions begin. */
const BEGUN = { pool: 'start', pages: writtenPages('start', 0) }

/** Resolves with the pages of a session as they were written. A reader of pages compares them with their names. */
async function readWritten(store: SessionStore, id: string, revision: number): Promise<(string | null)[]> {
  const pages = [...(poolsOf(id).length > 0 ? BEGUN.pages : []), ...allWrittenPages(id, revision)]
  const texts = await store.readPages(
    id,
    pages.map(({ name }) => name),
  )
  if (pages.some(({ text }, index) => text !== texts[index]))
    throw new StateError('store-invalid', 'A page is damaged.')
  return texts
}

function codeOf(error: unknown): string {
  if (!StateError.is(error)) throw error
  return error.code
}
