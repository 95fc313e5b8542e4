import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRecorded } from './read-recorded.ts'
import { type NamedWorld, recordEpisodes, type Setting } from './record-episodes.ts'
import { startRedisServer } from './redis-server.ts'
import { createReference, type Deviation, type Reference } from './reference.ts'
import { replayRun } from './replay-run.ts'

/** What one way of recording came to, over all worlds. */
export interface MatrixCell extends Setting, Deviation {
  /** Of playing: to start servers is not in it. */
  readonly seconds: number
}

interface Speed {
  readonly seconds: number
  readonly stepsPerSecond: number
}

export interface Matrix {
  readonly cells: readonly MatrixCell[]
  /** Stores that could not be had, and how to have them. */
  readonly skipped: readonly string[]
  /** Recording over HTTP with sessions in memory, at the better concurrency. */
  readonly recording: Speed & { readonly concurrency: number }
  /** Replaying the very same episodes in process, from reading their lines to comparing them. */
  readonly replaying: Speed & { readonly diverged: number }
}

const SETTINGS = (['memory', 'sqlite', 'redis'] as const).flatMap((store) =>
  (['in-process', 'stdio', 'http'] as const).flatMap((transport) =>
    [1, 256].map((concurrency) => ({ store, transport, concurrency })),
  ),
)

/**
 * Records the same episodes over each store, transport and concurrency, and compares each with what the rules alone make of
 * the actions of the first recording. Those recorded over HTTP are replayed besides, for the time that it takes.
 *
 * @param episodes - of each setting, split evenly over the worlds.
 */
export async function playMatrix(
  worlds: readonly NamedWorld[],
  episodes: number,
  onCell: (cell: MatrixCell) => void,
): Promise<Matrix> {
  await using cleanUp = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'episodic-matrix-'))
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const redis = await startRedisServer()
  if (redis) cleanUp.use(redis)

  const references: Reference[] = []
  const cells: MatrixCell[] = []
  const timed: Pick<Matrix, 'recording' | 'replaying'>[] = []
  for (const setting of SETTINGS) {
    const place = join(folder, String(cells.length))
    mkdirSync(place)
    const store = { memory: 'memory', sqlite: `sqlite:${join(place, 'sessions.db')}`, redis: redis?.url }[setting.store]
    if (store === undefined) continue
    const files = worlds.map((_, i) => join(place, `${i}.jsonl`))
    let seconds = 0
    for (const [i, world] of worlds.entries()) {
      const count = Math.floor((episodes + i) / worlds.length)
      seconds += await recordEpisodes(world, { ...setting, store }, count, files[i] as string)
    }
    if (references.length === 0)
      for (const [i, { world }] of worlds.entries()) references.push(await createReference(world, files[i] as string))
    const cell = { ...setting, seconds, ...(await compareAll(references, files)) }
    cells.push(cell)
    onCell(cell)
    if (setting.store === 'memory' && setting.transport === 'http')
      timed.push({
        recording: { concurrency: cell.concurrency, seconds, stepsPerSecond: cell.steps / seconds },
        replaying: await timeReplay(worlds, files),
      })
    // The first recording is what the references are made of.
    if (cells.length > 1) rmSync(place, { recursive: true, force: true, maxRetries: 3 })
  }
  const fastest = timed.reduce((best, next) => (next.recording.seconds < best.recording.seconds ? next : best))
  const skipped = redis ? [] : ['redis: there is no redis-server here. Install it: apt-get install redis-server.']
  return { cells, skipped, ...fastest }
}

async function compareAll(references: readonly Reference[], files: readonly string[]): Promise<Deviation> {
  let sum: Deviation = { episodes: 0, steps: 0, differingEpisodes: 0, differingBytes: 0, field: null }
  for (const [i, reference] of references.entries()) {
    const next = await reference.compare(files[i] as string)
    sum = {
      episodes: sum.episodes + next.episodes,
      steps: sum.steps + next.steps,
      differingEpisodes: sum.differingEpisodes + next.differingEpisodes,
      differingBytes: sum.differingBytes + next.differingBytes,
      field: sum.field ?? next.field,
    }
  }
  return sum
}

async function timeReplay(worlds: readonly NamedWorld[], files: readonly string[]): Promise<Matrix['replaying']> {
  let steps = 0
  let diverged = 0
  let seconds = 0
  for (const [i, { world }] of worlds.entries()) {
    const summary = await replayRun(world.environment, readRecorded(files[i] as string))
    steps += summary.steps
    seconds += summary.seconds
    diverged += summary.diverged
  }
  return { seconds, stepsPerSecond: steps / seconds, diverged }
}
