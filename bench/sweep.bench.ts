/**
 * How long the event loop stands still while 10,000 idle sessions expire in one sweep: by its own CPU, so that other
 * programs on the machine do not count, and by the clock on the wall.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { openSqliteStore } from '@episodic/state/sqlite'
import { report, round2 } from './figures.ts'
import { type LongestTurn, longestTurn } from './longest-turn.ts'
import { createMovableClock, fill, SESSIONS } from './stored-sessions.ts'

const CEILING = 20
const ROUNDS = 3
const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))

async function measure(opened: Promise<SessionStore>): Promise<LongestTurn & { took: number }> {
  await using store = await opened
  const clock = createMovableClock()
  const { host } = await fill(store, clock)
  globalThis.gc?.()
  clock.move(901_000)
  const began = performance.now()
  let swept = 0
  const { stall, work } = await longestTurn(async () => {
    swept = await host.sweep()
  })
  const took = Math.round(performance.now() - began)
  await host[Symbol.asyncDispose]()
  if (swept !== SESSIONS) throw new Error(`${swept} sessions expired, and not ${SESSIONS}.`)
  return { stall: round2(stall), work: round2(work), took }
}

/** The middle one of several rounds. */
async function measured(name: string, open: (round: number) => Promise<SessionStore>) {
  const rounds = []
  for (let round = 1; round <= ROUNDS; round++) {
    const { stall, work, took } = await measure(open(round))
    console.error(
      `  round ${round}  ${name.padEnd(8)} ${work} ms of CPU in a turn, ${stall} ms of time, ${took} ms in all`,
    )
    rounds.push({ stall, work, took })
  }
  return rounds.sort((a, b) => a.work - b.work)[ROUNDS >> 1] as LongestTurn
}

try {
  const memory = await measured('memory', async () => createMemoryStore())
  const sqlite = await measured('sqlite', (round) => openSqliteStore(join(folder, `sessions-${round}.db`)))
  const milliseconds = Math.max(memory.work, sqlite.work)
  report('sweep', { ok: milliseconds <= CEILING, sessions: SESSIONS, milliseconds, memory, sqlite })
} finally {
  rmSync(folder, { recursive: true })
}
