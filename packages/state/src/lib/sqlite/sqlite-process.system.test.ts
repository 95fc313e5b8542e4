import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
