/**
 * How long the event loop stands still while 10,000 idle sessions expire in one sweep: the longest turn's share of the
 * CPU that the whole sweep takes, so that neither other programs on the machine count, nor its speed; and by the clock
 * on the wall.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { openSqliteStore } from '@episodic/state/sqlite'
import { report, round2 } from '../figures.ts'
import { type LongestTurn, longestTurn } from './longest-turn.ts'
import { createMovableClock, fill, SESSIONS } from './stored-sessions.ts'

/** Of the CPU of the whole sweep, what its longest turn may take. In one turn for all sessions it would be 1. */
const CEILING = 0.15
const ROUNDS = 3
const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))

async function measure(opened: Promise<SessionStore>): Promise<LongestTurn & { took: number; share: number }> {
  await using store = await opened
  const clock = createMovableClock()
  const { host } = await fill(store, clock)
  globalThis.gc?.()
  clock.move(901_000)
  const usedBefore = process.cpuUsage()
  const began = performance.now()
  let swept = 0
  const { stall, work } = await longestTurn(async () => {
    swept = await host.sweep()
  })
  const { user, system } = process.cpuUsage(usedBefore)
  const took = Math.round(performance.now() - began)
  await host[Symbol.asyncDispose]()
  if (swept !== SESSIONS) throw new Error(`${swept} sessions expired, and not ${SESSIONS}.`)
  return { stall: round2(stall), work: round2(work), took, share: round2((work * 1_000) / (user + system)) }
}

/** The middle one of several rounds, by its share. */
async function measured(name: string, open: (round: number) => Promise<SessionStore>) {
  const rounds = []
  for (let round = 1; round <= ROUNDS; round++) {
    const found = await measure(open(round))
    const { stall, work, took, share } = found
    console.error(
      `  round ${round}  ${name.padEnd(8)} ${work} ms of CPU in a turn, ${share} of the whole, ${stall} ms of time, ${took} ms in all`,
    )
    rounds.push(found)
  }
  return rounds.sort((a, b) => a.share - b.share)[ROUNDS >> 1] as (typeof rounds)[number]
}

try {
  const memory = await measured('memory', async () => createMemoryStore())
  const sqlite = await measured('sqlite', (round) => openSqliteStore(join(folder, `sessions-${round}.db`)))
  const share = Math.max(memory.share, sqlite.share)
  report('sweep', { ok: share <= CEILING, sessions: SESSIONS, share, memory, sqlite })
} finally {
  rmSync(folder, { recursive: true })
}
