import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { allWrittenPages, writtenPages } from '../fixtures/written-pages.fixture.ts'
import { openSqliteStore } from './sqlite-store.ts'

const WRITER = fileURLToPath(new URL('../fixtures/sqlite-writer.fixture.ts', import.meta.url))

describe('a SQLite store and processes', () => {
  let folder: string
  let path: string
  const children: ChildProcess[] = []
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'episodic-sqlite-'))
    path = join(folder, 'store.db')
  })
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child)
    await rm(folder, { recursive: true, force: true })
  })

  /** Starts a process that commits without end, and stops reading after `lines` acknowledged commits. */
  async function startWriter(lines: number): Promise<{ child: ChildProcess; acknowledged: Acknowledged[] }> {
    const child = spawn(process.execPath, [WRITER, 'commit', path], { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const acknowledged: Acknowledged[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(JSON.parse(line))
      if (acknowledged.length === lines) break
    }
    return { child, acknowledged }
  }

  it.each([1, 100, 2_000])('has every acknowledged commit after kill -9, none torn (after %d)', async (lines) => {
    const { child, acknowledged } = await startWriter(lines)
    await kill(child)
    expect(child.signalCode).toBe('SIGKILL')
    expect(acknowledged).toHaveLength(lines)

    await using store = await openSqliteStore(path)
    const last = new Map(acknowledged.map(({ id, revision }) => [id, revision]))
    const begun = writtenPages('start', 0)
    let pages = begun.length
    for (const [id, revision] of last) {
      const session = await store.read(id)
      const text = `${id}:${session?.revision}`
      expect(session?.revision).toBeGreaterThanOrEqual(revision)
      expect(session).toMatchObject({ head: text, state: text })
      const log = await store.readLog(id, { after: 0, limit: 1_000_000 })
      expect(log).toEqual(
        Array.from({ length: session?.revision ?? 0 }, (_, index) => ({
          revision: index + 1,
          text: `${id}:${index + 1}`,
        })),
      )
    }
    for (const { id, revision } of await store.list({ limit: 9 })) {
      const written = [...begun, ...allWrittenPages(id, revision)]
      const names = written.map(({ name }) => name)
      expect(await store.readPages(id, names)).toEqual(written.map(({ text }) => text))
      pages += written.length - begun.length
    }
    // None of a commit that was not finished.
    expect(await store.countPages()).toBe(pages)
    for (const { id } of await store.list({ limit: 9 })) await store.remove(id)
    expect(await store.countPages()).toBe(0)
  })

  it('belongs to one process at a time, and to the next as soon as that one is killed', async () => {
    const { child } = await startWriter(1)
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: 'store-locked',
      message: expect.stringContaining(path),
    })
    await kill(child)
    await using store = await openSqliteStore(path)
    expect(await store.count()).toBe(8)
  })

  it('applies nothing of a turn that the disk has no room for, and goes on afterwards', async () => {
    // A limit on the size of files makes the write fail for real, at a place of the test's choosing.
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -f 4000 && exec "$@"',
      'sh',
      process.execPath,
      WRITER,
      'fill',
      path,
    ])
    expect(JSON.parse(stdout)).toEqual({
      together: ['store-unavailable', 'store-unavailable'],
      kept: [0, 0],
      alone: true,
    })
    await using store = await openSqliteStore(path)
    expect(await store.list({ limit: 10 })).toMatchObject([
      { id: 'large', revision: 0, state: 'large:0' },
      { id: 'small', revision: 1, state: 'small:1' },
    ])
    expect(await store.readLog('large', { after: 0, limit: 10 })).toEqual([])
    expect(await store.readLog('small', { after: 0, limit: 10 })).toEqual([{ revision: 1, text: 'small:1' }])
    expect(await store.countPages()).toBe(4)
  })

  it('is unavailable while another process has locked its file, and goes on by itself after that', async () => {
    await using store = await openSqliteStore(path)
    const rest = { id: 'one', epoch: 1, touchedAt: 1, origin: '', base: null, state: '', pool: 'one.0', pools: [] }
    const session = (revision: number) => ({ ...rest, revision, head: `${revision}` })
    await store.create(session(0))
    const child = spawn(process.execPath, ['--input-type=module', '-e', LOCKER, path], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(child)
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    expect(await lines.next()).toMatchObject({ value: 'locked' })
    const commit = () => store.commit(session(1), { revision: 0, epoch: 1 }, { revision: 1, text: 'step' })
    for (const tried of await Promise.allSettled([commit(), commit()]))
      expect(tried).toMatchObject({ reason: { code: 'store-unavailable', message: expect.stringContaining('lock') } })
    child.stdin.end()
    expect(await lines.next()).toMatchObject({ value: 'released' })
    expect(await commit()).toBe(true)
    expect(await store.readLog('one', { after: 0, limit: 10 })).toEqual([{ revision: 1, text: 'step' }])
  })
})

/** Locks the file of a store as a copying or inspecting program may, until its input ends. */
const LOCKER = `
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
const database = new DatabaseSync(process.argv[1])
database.exec('BEGIN EXCLUSIVE')
console.log('locked')
await once(process.stdin.resume(), 'end')
database.exec('COMMIT')
console.log('released')
`

interface Acknowledged {
  readonly id: string
  readonly revision: number
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
