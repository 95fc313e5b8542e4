import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedisServer } from '@episodic/runs/base/redis-server'
import { readRecorded } from '@episodic/runs/folder/read-recorded'
import { type NamedWorld, recordEpisodes, type Setting } from './record-episodes.ts'
import { createReference, type Deviation, type Reference } from './reference.ts'
import { replayRun } from './replay-run.ts'

export interface MatrixCell extends Setting, Deviation {
  /** Playing time, without starting servers. */
  readonly seconds: number
}

export interface SkippedCell extends Pick<Setting, 'transport' | 'concurrency'> {
  readonly store: 'redis'
  /** With how to install what is missing. */
  readonly reason: string
}

interface Speed {
  readonly seconds: number
  readonly stepsPerSecond: number
}

export interface Matrix {
  readonly cells: readonly MatrixCell[]
  /** The settings whose store is not installed. */
  readonly skipped: readonly SkippedCell[]
  /** Recording over HTTP with sessions in memory, at the better concurrency. */
  readonly recording: Speed & { readonly concurrency: number }
  /** Replaying the same episodes in process, from reading their lines to comparing them. */
  readonly replaying: Speed & { readonly diverged: number }
}

const NO_REDIS = 'redis-server is not installed. Install it: apt-get install redis-server.'

const SETTINGS = (['memory', 'sqlite', 'redis'] as const).flatMap((store) =>
  (['in-process', 'stdio', 'http'] as const).flatMap((transport) =>
    [1, 256].map((concurrency) => ({ store, transport, concurrency })),
  ),
)

/**
 * Records the same episodes with each store, transport and concurrency, and compares each recording with the episodes
 * that the rules alone play from the actions of the first one. Recordings over HTTP are also replayed, to time it.
 *
 * @param episodes - of each setting, split evenly over the worlds.
 */
export async function runMatrix(
  worlds: readonly NamedWorld[],
  episodes: number,
  onCell: (cell: MatrixCell) => void,
): Promise<Matrix> {
  await using cleanUp = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'episodic-matrix-'))
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const redis = await startRedisServer(null)
  if (redis) cleanUp.use(redis)

  const references: Reference[] = []
  const cells: MatrixCell[] = []
  const skipped: SkippedCell[] = []
  const timed: Pick<Matrix, 'recording' | 'replaying'>[] = []
  for (const setting of SETTINGS) {
    const place = join(folder, String(cells.length))
    const store = { memory: 'memory', sqlite: `sqlite:${join(place, 'sessions.db')}`, redis: redis?.url }[setting.store]
    if (store === undefined) {
      skipped.push({ ...setting, store: 'redis', reason: NO_REDIS })
      continue
    }
    mkdirSync(place)
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
    // The references read the first recording.
    if (cells.length > 1) rmSync(place, { recursive: true, force: true, maxRetries: 3 })
  }
  const fastest = timed.reduce((best, next) => (next.recording.seconds < best.recording.seconds ? next : best))
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
