import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '@episodic/state/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { createExchange, createMarket } from '../fixtures/market.fixture.ts'
import { createHost } from './create-host.ts'
import type { Host } from './host.ts'

const FIXTURE = fileURLToPath(new URL('../fixtures/market-process.fixture.ts', import.meta.url))
const REQUEST = { environment: 'market', seed: 'seed', requestKey: 'one market for all lives' }

describe('a server that is killed with -9, over SQLite', () => {
  let folder: string
  let path: string
  const children: ChildProcess[] = []
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'episodic-market-'))
    path = join(folder, 'store.db')
  })
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child)
    await rm(folder, { recursive: true, force: true })
  })

  /** Runs the fixture until it has said so many lines, kills it, and gives what it said. */
  async function live(args: readonly string[], lines: number): Promise<unknown[]> {
    const child = spawn(process.execPath, [FIXTURE, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const said: unknown[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(JSON.parse(line))
      if (said.length === lines) break
    }
    await kill(child)
    expect(child.signalCode).toBe('SIGKILL')
    return said
  }

  /** What is there when it is all over. */
  async function after<T>(look: (host: Host, control: string) => Promise<T>, exchange = createExchange()): Promise<T> {
    await using store = await openSqliteStore(path)
    await using host = createHost({ environments: [createMarket(exchange)], store })
    const { session } = await host.open(null, REQUEST)
    return await look(host, session)
  }

  it('has applied every acknowledged event once, and each that was published again after a restart', async () => {
    let acknowledged = 0
    for (const lines of [1, 7, 40, 3, 150]) {
      // The publisher does not know whether the last one arrived, so it sends that one and the one before it again.
      const from = Math.max(0, acknowledged - 1)
      const said = (await live(['publish', path, String(from)], lines)) as { i: number; delivered: string }[]
      expect(said.map(({ i }) => i)).toEqual(said.map((_, place) => from + place))
      if (from > 0) expect(said[0]?.delivered).toBe('before')
      acknowledged = from + said.length
    }
    const { state, revision, seats } = await after((host, control) => atControl(host, control).state())
    const changes = (state.private.log as string[]).map((change) => Number(change.split('>')[1]))
    expect(changes.length).toBeGreaterThanOrEqual(acknowledged)
    expect(changes).toEqual(changes.map((_, i) => i + 1))
    expect(revision).toBe(changes.length + (seats.agent?.seq ?? 0))
  })
})

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
