/** SQLite with 64 sessions in flight, beside a bare group-commit compare-and-set of rows of the same size. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StoredSession } from '@episodic/state'
import { openSqliteStore } from '@episodic/state/sqlite'
import { inTurn, median, ratio, report } from '../figures.ts'

const IN_FLIGHT = 64
const COMMITS = 40_000
const FLOOR = 0.7
const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))
// The sizes of a game of number-guessing, rounded up: what never changes, what does, and its log entry.
const origin = randomBytes(128).toString('hex')
const head = randomBytes(128).toString('hex')
const state = randomBytes(256).toString('hex')
const entry = randomBytes(150).toString('hex')

/** Commits of `IN_FLIGHT` sessions, each waiting for its last: the step log's entry goes with every one. */
async function throughStore(): Promise<number> {
  await using store = await openSqliteStore(join(folder, `store-${process.hrtime.bigint()}.db`))
  const session = (id: string, revision: number): StoredSession => ({
    id,
    revision,
    epoch: 1,
    touchedAt: revision,
    origin,
    base: null,
    pool: `${id}.0`,
    pools: [],
    head,
    state,
  })
  const ids = Array.from({ length: IN_FLIGHT }, (_, i) => `session-${i}-0123456789`)
  for (const id of ids) await store.create(session(id, 0))
  const began = performance.now()
  await Promise.all(
    ids.map(async (id) => {
      for (let revision = 1; revision <= COMMITS / IN_FLIGHT; revision++)
        if (
          !(await store.commit(session(id, revision), { revision: revision - 1, epoch: 1 }, { revision, text: entry }))
        )
          throw new Error('A commit that nobody raced was refused.')
    }),
  )
  return COMMITS / ((performance.now() - began) / 1_000)
}

/**
 * The floor: a bare table, one row a session with as many bytes as record and log entry have together, written where
 * its revision is the expected one. Like the store, it serves 64 callers who each wait for their commit, and makes one
 * transaction of a turn of the event loop. `read` has it fetch the row first, as a server without state of its own
 * must; `tuned` sets the file up as the store does its own: held alone, with as long a log.
 */
async function bare({ read = false, tuned = false }): Promise<number> {
  const database = new DatabaseSync(join(folder, `bare-${process.hrtime.bigint()}.db`))
  if (tuned) database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA wal_autocheckpoint = 8000')
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  database.exec(
    'CREATE TABLE session (id TEXT PRIMARY KEY, revision INTEGER NOT NULL, record TEXT NOT NULL) WITHOUT ROWID',
  )
  const record = origin + head + state + entry
  const ids = Array.from({ length: IN_FLIGHT }, (_, i) => `session-${i}-0123456789`)
  for (const id of ids) database.prepare('INSERT INTO session VALUES (?, 0, ?)').run(id, record)
  const get = database.prepare('SELECT revision, record FROM session WHERE id = ?')
  const write = database.prepare('UPDATE session SET revision = ?, record = ? WHERE id = ? AND revision = ?')
  const begin = database.prepare('BEGIN IMMEDIATE')
  const end = database.prepare('COMMIT')
  let waiting: { id: string; revision: number; done: () => void }[] = []
  const flush = () => {
    const batch = waiting
    waiting = []
    begin.run()
    for (const { id, revision } of batch) write.run(revision, record, id, revision - 1)
    end.run()
    for (const { done } of batch) done()
  }
  const commit = (id: string, revision: number) =>
    new Promise<void>((done) => {
      if (waiting.push({ id, revision, done }) === 1) setImmediate(flush)
    })
  const began = performance.now()
  await Promise.all(
    ids.map(async (id) => {
      for (let revision = 1; revision <= COMMITS / IN_FLIGHT; revision++) {
        if (read) get.get(id)
        await commit(id, revision)
      }
    }),
  )
  const rate = COMMITS / ((performance.now() - began) / 1_000)
  database.close()
  return rate
}

try {
  const rates = await inTurn(5, {
    store: throughStore,
    bare: () => bare({}),
    bareTuned: () => bare({ tuned: true }),
    bareWithRead: () => bare({ read: true }),
  })
  report('store', {
    ok: ratio(rates.store, rates.bare) >= FLOOR,
    commitsPerSecond: Math.round(median(rates.store)),
    barePerSecond: Math.round(median(rates.bare)),
    ratio: ratio(rates.store, rates.bare),
    ratioTuned: ratio(rates.store, rates.bareTuned),
    ratioWithRead: ratio(rates.store, rates.bareWithRead),
  })
} finally {
  rmSync(folder, { recursive: true })
}
