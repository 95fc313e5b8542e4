import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { World } from '@episodic/play/worlds/world'
import { startRedisServer } from '@episodic/run/base/redis-server'
import { episodeKey } from '@episodic/run/folder/plan/planned-episode'
import { readRecorded } from '@episodic/run/folder/read-recorded'
import { type NamedWorld, recordEpisodes, type Setting } from './record-episodes.ts'
import { replayRun } from './replay-run.ts'

/** How recorded episodes differ from what the rules alone play, and from those of the first setting. */
export interface Deviation {
  readonly episodes: number
  readonly steps: number
  /** Episodes that differ, that are missing, or that the first setting lacks. */
  readonly differingEpisodes: number
  /** The first field that differs; `null` if none does. */
  readonly field: string | null
}

export interface MatrixCell extends Setting, Deviation {
  /** Playing time, without starting servers. */
  readonly seconds: number
}

export interface SkippedCell extends Pick<Setting, 'transport' | 'concurrency'> {
  readonly store: 'redis'
  /** With how to install what is missing. */
  readonly reason: string
}

export interface Matrix {
  readonly cells: readonly MatrixCell[]
  /** The settings whose store is not installed. */
  readonly skipped: readonly SkippedCell[]
}

const NO_REDIS = 'redis-server is not installed. Install it: apt-get install redis-server.'

const SETTINGS = (['memory', 'sqlite', 'redis'] as const).flatMap((store) =>
  (['in-process', 'stdio', 'http'] as const).flatMap((transport) =>
    [1, 256].map((concurrency) => ({ store, transport, concurrency })),
  ),
)

/**
 * Records the same episodes with each store, transport and concurrency, replays each recording with the rules alone,
 * and compares its chains with those of the first setting.
 *
 * @param episodes - of each setting, split evenly over the worlds.
 */
export async function runMatrix(
  worlds: readonly NamedWorld[],
  episodes: number,
  onCell: (cell: MatrixCell) => void,
  { redis: wantsRedis = true } = {},
): Promise<Matrix> {
  await using cleanUp = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'episodic-matrix-'))
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const redis = wantsRedis ? await startRedisServer(null) : null
  if (redis) cleanUp.use(redis)

  const cells: MatrixCell[] = []
  const skipped: SkippedCell[] = []
  const chains: (ReadonlyMap<string, string> | undefined)[] = []
  for (const setting of SETTINGS) {
    const place = join(folder, String(cells.length))
    const store = { memory: 'memory', sqlite: `sqlite:${join(place, 'sessions.db')}`, redis: redis?.url }[setting.store]
    if (store === undefined) {
      skipped.push({ ...setting, store: 'redis', reason: NO_REDIS })
      continue
    }
    mkdirSync(place)
    let seconds = 0
    let sum: Deviation = { episodes: 0, steps: 0, differingEpisodes: 0, field: null }
    for (const [i, world] of worlds.entries()) {
      const file = join(place, `${i}.jsonl`)
      seconds += await recordEpisodes(world, { ...setting, store }, Math.floor((episodes + i) / worlds.length), file)
      const next = await replayRecording(world.world, file, chains[i])
      chains[i] ??= next.chains
      sum = {
        episodes: sum.episodes + next.chains.size,
        steps: sum.steps + next.steps,
        differingEpisodes: sum.differingEpisodes + next.differing.size,
        field: sum.field ?? next.field,
      }
    }
    rmSync(place, { recursive: true, force: true, maxRetries: 3 })
    const cell = { ...setting, seconds, ...sum }
    cells.push(cell)
    onCell(cell)
  }
  return { cells, skipped }
}

/**
 * Replays a recording with the rules alone.
 *
 * @param first - the chains of the same episodes in the first setting. Default: this is the first.
 */
export async function replayRecording({ environment }: World, path: string, first?: ReadonlyMap<string, string>) {
  const chains = new Map<string, string>()
  const differing = new Set<string>()
  let [key, known] = ['', 0]
  const lines = async function* () {
    for await (const line of readRecorded(path)) {
      key = episodeKey(line.record)
      chains.set(key, line.record.chain)
      yield line
    }
  }
  const { steps, divergences } = await replayRun(environment, lines(), {}, ({ diverged }) => {
    if (diverged > known) differing.add(key)
    known = diverged
  })
  if (first)
    for (const each of [...chains.keys(), ...first.keys()])
      if (chains.get(each) !== first.get(each)) differing.add(each)
  const [divergence] = divergences
  const field = divergence?.step ? `steps.${divergence.step - 1}.${divergence.field}` : divergence?.field
  return { chains, differing, steps, field: field ?? (differing.size > 0 ? 'chain' : null) }
}
