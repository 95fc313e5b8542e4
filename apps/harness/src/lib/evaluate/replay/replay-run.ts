import { type Divergence, toDivergence } from '@episodic/analysis/replay/divergence'
import { replayEpisode } from '@episodic/analysis/replay/replay-episode'
import type { ReplayOptions } from '@episodic/analysis/replay/replayed-step'
import type { Scoring } from '@episodic/analysis/replay/scoring'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { isMatchRecord, type SealedRecord } from '@episodic/protocol'
import { episodeKey } from '@episodic/run/folder/plan/planned-episode'
import type { RecordedLine } from '@episodic/run/folder/read-recorded'
import type { RecordedPlan } from './recorded-plan.ts'

export interface ReplaySummary {
  /** Lines read. `episodes = replayed + diverged + notReplayable`. */
  readonly episodes: number
  readonly steps: number
  readonly replayed: number
  readonly diverged: number
  /** Failed episodes that never opened. Only their chains are verified. */
  readonly notReplayable: number
  /** Diverged lines of a task or an attempt that the plan of the run does not have. */
  readonly unplanned: number
  /** Diverged lines that conflict with an earlier line of the same episode. */
  readonly conflicting: number
  /** Identical duplicates of earlier lines. They do not affect reports. */
  readonly repeated: number
  /** Episodes replayed strictly: without the machine's randomness, time, timers, network and files. */
  readonly strict: number
  readonly seconds: number
  readonly stepsPerSecond: number
  readonly divergences: readonly Divergence[]
  /** Scheduled episodes without a line; `null` if the number of scheduled episodes is unknown. */
  readonly missing: number | null
}

export interface ReplayedRun extends Pick<ReplayOptions, 'declaredOnly' | 'mayLeave' | 'origins'> {
  /** Its scoring. Without it, recorded rewards are accepted, and returns are their sums. */
  readonly scoring?: Scoring | undefined
  /** Its plan. Without it, lines are not compared with a plan. */
  readonly plan?: RecordedPlan | undefined
  readonly scheduled?: number | undefined
}

/**
 * The first episodes are replayed strictly, which takes twice as long and finds forbidden calls. All others are
 * compared as closely, and one that diverges is replayed strictly too.
 */
export const STRICT_EPISODES = 32

const SHOWN = 10

/**
 * Compares recorded episodes with the plan of their run and with each other, and replays them in turn. Holds one
 * episode at a time, and about 150 bytes of each: its key and a digest of its line. Throws the errors of {@link
 * replayEpisode}.
 */
export async function replayRun(
  environment: EnvironmentDefinition,
  lines: AsyncIterable<RecordedLine>,
  { scoring, plan, mayLeave, declaredOnly, origins, scheduled }: ReplayedRun = {},
  onEpisode: (summary: Pick<ReplaySummary, 'episodes' | 'diverged'>) => void = () => {},
): Promise<ReplaySummary> {
  const counts = { reproduced: 0, diverged: 0, 'not-replayable': 0 }
  const shown: (Divergence | SealedRecord)[] = []
  const digests = new Map<string, { readonly digest: number; readonly line: number }>()
  const planned = new Set<string>()
  const again: Again[] = []
  let [read, steps, unplanned, conflicting, repeated] = [0, 0, 0, 0, 0]
  const diverge = (divergence: Divergence | SealedRecord) => {
    counts.diverged += 1
    if (shown.length < SHOWN) shown.push(divergence)
  }
  const began = performance.now()
  for await (const episode of lines) {
    const { record, line, digest } = episode
    const { task } = record
    const strict = read < STRICT_EPISODES
    const limits = plan?.limits.get(task.id)
    const replay = replayEpisode(environment, episode, {
      strict,
      scoring: scoring ?? null,
      limits,
      mayLeave,
      declaredOnly,
      origins,
    })
    read += 1
    steps += replay.steps
    const key = episodeKey(record)
    const name = toTryKey(record)
    const earlier = digests.get(name)
    const isPlanned = plan?.holds(record) ?? true
    if (!isPlanned) unplanned += 1
    else planned.add(key)
    if (!earlier) digests.set(name, { digest, line })
    else if (earlier.digest === digest) repeated += 1
    else conflicting += 1
    // Report one divergence per line: the most informative one.
    if (replay.kind === 'diverged' && replay.divergence.cause === 'edited') diverge(replay.divergence)
    else if (plan && !plan.fits(record)) diverge(record)
    else if (replay.kind === 'diverged') diverge(replay.divergence)
    else if (earlier && earlier.digest !== digest) {
      const parting = { step: null, field: 'line', recorded: `line ${line}`, replayed: `line ${earlier.line}` }
      diverge(toDivergence(record, parting, 'conflict'))
    } else {
      counts[replay.kind] += 1
      // Of a tree, some leaves may not have been chosen.
      if (record.try > 0 && (scheduled !== undefined || leavesOf(record) === 1))
        again.push(againOf(record, replay.kind))
    }
    onEpisode({ episodes: read, diverged: counts.diverged })
  }
  for (const { earlier, kind, divergence } of again) {
    if (earlier.some((name) => digests.has(name))) continue
    counts[kind] -= 1
    diverge(divergence)
  }
  const divergences = await formatAll(shown, plan)
  const seconds = (performance.now() - began) / 1_000
  return {
    episodes: read,
    steps,
    replayed: counts.reproduced,
    diverged: counts.diverged,
    notReplayable: counts['not-replayable'],
    unplanned,
    conflicting,
    repeated,
    strict: Math.min(read, STRICT_EPISODES),
    seconds,
    stepsPerSecond: seconds > 0 ? steps / seconds : 0,
    divergences,
    missing: scheduled === undefined ? null : Math.max(0, scheduled - planned.size),
  }
}

function toTryKey(record: Pick<SealedRecord, 'task' | 'attempt' | 'try'>): string {
  return `${episodeKey(record)} ${record.try}`
}

/** A play after a failed one, and how it is counted unless no line has one of the `earlier` names. */
interface Again {
  readonly earlier: readonly string[]
  readonly kind: 'reproduced' | 'not-replayable'
  readonly divergence: Divergence
}

function leavesOf(record: SealedRecord): number {
  return (!isMatchRecord(record) && record.branch?.leaves) || 1
}

function againOf(record: SealedRecord, kind: Again['kind']): Again {
  // A tree is played again as a whole, after any of its leaves.
  const leaves = leavesOf(record)
  const first = Math.floor(record.attempt / leaves) * leaves
  const before = record.try - 1
  const parting = { step: null, field: 'try', recorded: record.try, replayed: `no line of try ${before}` }
  return {
    earlier: Array.from({ length: leaves }, (_, leaf) => toTryKey({ ...record, attempt: first + leaf, try: before })),
    kind,
    divergence: toDivergence(record, parting, 'try-missing'),
  }
}

/** Replaces each record that differs from the plan by its divergence. Reads the tasks once more, for all of them. */
async function formatAll(
  shown: readonly (Divergence | SealedRecord)[],
  plan: RecordedPlan | undefined,
): Promise<Divergence[]> {
  const unfit = shown.filter((one): one is SealedRecord => !isDivergence(one))
  if (!plan || unfit.length === 0) return shown.filter(isDivergence)
  const differences = await plan.explain(unfit)
  return shown.map((one) => {
    if (isDivergence(one)) return one
    const difference = differences[unfit.indexOf(one)] ?? { field: 'task', recorded: one.task, replayed: undefined }
    return toDivergence(one, { ...difference, step: null }, 'plan-differs')
  })
}

function isDivergence(one: Divergence | SealedRecord): one is Divergence {
  return 'cause' in one
}
