/** From the start of `episodic serve` on a SQLite store with 10,000 sessions until it plays one of them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { META } from '@episodic/protocol'
import { openSqliteStore } from '@episodic/state/sqlite'
import { median, report } from './figures.ts'
import { fill, SESSIONS } from './stored-sessions.ts'

const CEILING = 2_000
const ROUNDS = 5
const TOKEN = 'the-token-of-this-benchmark'
const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))
const CLI = fileURLToPath(new URL('../apps/harness/src/cli.ts', import.meta.url))
const WORLD = fileURLToPath(new URL('../examples/number-guessing', import.meta.url))

/** Milliseconds from the start of the process to the answer of a step in a stored session. */
async function start(file: string, session: string, seq: number): Promise<number> {
  const began = performance.now()
  const options = ['--port', '0', '--json', '--log-level', 'warn', '--store', `sqlite:${file}`]
  const child = spawn(process.execPath, [CLI, 'serve', WORLD, ...options], {
    env: { ...process.env, EPISODIC_HOME: folder, EPISODIC_CONTROL_TOKEN: TOKEN },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { trustedUrl } = JSON.parse(line) as { trustedUrl: string }
  const _meta = { [META.session]: session, [META.seq]: seq }
  const answer = await fetch(trustedUrl, {
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
  const file = join(folder, 'sessions.db')
  const store = await openSqliteStore(file)
  const { host, handles } = await fill(store)
  await host[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    times.push(await start(file, handles[round * 1_000] as string, 5))
    console.error(`  round ${round + 1}  ${Math.round(times.at(-1) as number)} ms`)
  }
  const milliseconds = Math.round(median(times))
  report('startup', { ok: milliseconds <= CEILING, sessions: SESSIONS, milliseconds })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
