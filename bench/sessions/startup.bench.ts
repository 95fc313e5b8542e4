/**
 * From the start of `episodic serve` on a SQLite store with 10,000 sessions until it plays one of them, beside the same
 * with 100.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { META } from '@episodic/protocol'
import { systemClock } from '@episodic/state'
import { openSqliteStore } from '@episodic/state/sqlite'
import { median, ratio, report } from '../figures.ts'
import { fill, SESSIONS } from './stored-sessions.ts'

/** Sessions of the store that the other is compared with. */
const FEW = 100
/** How much longer the start may take with all of them. */
const CEILING = 1.5
const ROUNDS = 5
const TOKEN = 'the-token-of-this-benchmark'
const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))
const CLI = fileURLToPath(new URL('../../apps/harness/src/cli.ts', import.meta.url))
const WORLD = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))

/** Fills a store, and gives a way to start on it and play one session, another in each round. */
async function prepare(sessions: number): Promise<(round: number) => Promise<number>> {
  const file = join(folder, `sessions-${sessions}.db`)
  const store = await openSqliteStore(file)
  const { host, handles } = await fill(store, systemClock, sessions)
  await host[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  return (round) => start(file, handles[round * 10] as string, 5)
}

/** Milliseconds from the start of the process to the answer of a step in a stored session. */
async function start(file: string, session: string, seq: number): Promise<number> {
  const began = performance.now()
  const options = ['--port', '0', '--json', '--log-level', 'warn', '--store', `sqlite:${file}`]
  const child = spawn(process.execPath, [CLI, 'serve', WORLD, ...options], {
    env: { ...process.env, EPISODIC_HOME: folder, EPISODIC_CONTROL_TOKEN: TOKEN },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { trainerUrl } = JSON.parse(line) as { trainerUrl: string }
  const _meta = { [META.session]: session, [META.seq]: seq }
  const answer = await fetch(trainerUrl, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'guess', arguments: { value: -1 }, _meta },
    }),
  })
  const { result } = (await answer.json()) as { result?: object }
  const took = performance.now() - began
  child.kill('SIGTERM')
  await once(child, 'exit')
  if (!result) throw new Error('The stored session was not played.')
  return took
}

try {
  const [few, all] = [await prepare(FEW), await prepare(SESSIONS)]
  const times: { few: number[]; all: number[] } = { few: [], all: [] }
  // The first round, in which code is read from the disk for the first time, is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    const [withFew, withAll] = [await few(round), await all(round)]
    console.error(
      `  ${round === 0 ? 'warm-up' : `round ${round}`}  ${Math.round(withFew)} and ${Math.round(withAll)} ms`,
    )
    if (round === 0) continue
    times.few.push(withFew)
    times.all.push(withAll)
  }
  const growth = ratio(times.all, times.few)
  report('startup', {
    ok: growth <= CEILING,
    sessions: SESSIONS,
    growth,
    milliseconds: { few: Math.round(median(times.few)), all: Math.round(median(times.all)) },
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
