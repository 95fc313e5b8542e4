import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { EpisodeRecord } from '@episodic/protocol'
import { type Divergence, describeDivergence } from './divergence.ts'
import type { RecordedLine } from './read-recorded.ts'
import type { RecordedPlan } from './recorded-plan.ts'
import { replayEpisode } from './replay-episode.ts'
import type { Scoring } from './scoring.ts'

/** What replaying a run came to. */
export interface ReplaySummary {
  /** Lines that were read. `episodes = replayed + diverged + notReplayable`. */
  readonly episodes: number
  /** Steps that gave what was recorded. */
  readonly steps: number
  /** Episodes that gave all that was recorded. */
  readonly replayed: number
  readonly diverged: number
  /** Failed episodes whose world never opened. Their chains are checked all the same. */
  readonly notReplayable: number
  /** Of those that diverged: lines of a task or an attempt that the plan of the run does not hold. */
  readonly unplanned: number
  /** Of those that diverged: lines that contradict an earlier line of the same episode. */
  readonly conflicting: number
  /** Of all lines: those that are there a second time, word for word. They change no figure of a report. */
  readonly repeated: number
  /** Of the episodes, those whose rules were kept from the machine's own chance, time, timers and network. */
  readonly strict: number
  readonly seconds: number
  readonly stepsPerSecond: number
  /** The first few. */
  readonly divergences: readonly Divergence[]
  /** Scheduled episodes without a line; `null` where it is not known how many were. */
  readonly missing: number | null
}

/** What is known of the run that episodes are of. Default: nothing. */
export interface ReplayedRun {
  /** How it scored; without it, rewards are taken as they are recorded, and returns are their sums. */
  readonly scoring?: Scoring | undefined
  /** What it was to play; without it, lines are not compared with a plan. */
  readonly plan?: RecordedPlan | undefined
  /** Whether the lines are as a run seals them: actions hold only arguments that their tools declare. */
  readonly declaredOnly?: boolean | undefined
  /** Whether it was played by an agent, which may leave before the end. */
  readonly mayLeave?: boolean | undefined
  /** How many distinct episodes it was to seal. */
  readonly scheduled?: number | undefined
}

/**
 * How many episodes of a run are replayed strictly, which takes about twice as long. What the rules reach for shows
 * in the first ones; all others are compared as closely, and one that diverges is looked at strictly too.
 */
export const STRICT_EPISODES = 32

const SHOWN = 10

/**
 * Compares recorded episodes with the plan of their run and with each other, and replays them one after the other. Holds one
 * of them at a time, and some 150 bytes of each: its name and a digest of its line. Throws what {@link replayEpisode} throws.
 */
export async function replayRun(
  environment: EnvironmentDefinition,
  lines: AsyncIterable<RecordedLine>,
  { scoring, plan, mayLeave, declaredOnly, scheduled }: ReplayedRun = {},
  onEpisode: (summary: Pick<ReplaySummary, 'episodes' | 'diverged'>) => void = () => {},
): Promise<ReplaySummary> {
  const counts = { reproduced: 0, diverged: 0, 'not-replayable': 0 }
  const shown: (Divergence | EpisodeRecord)[] = []
  const digests = new Map<string, { readonly digest: number; readonly line: number }>()
  let [read, steps, planned, unplanned, conflicting, repeated] = [0, 0, 0, 0, 0, 0]
  const diverge = (divergence: Divergence | EpisodeRecord) => {
    counts.diverged += 1
    if (shown.length < SHOWN) shown.push(divergence)
  }
  const began = performance.now()
  for await (const episode of lines) {
    const { record, line, digest } = episode
    const { task, attempt } = record
    const strict = read < STRICT_EPISODES
    const limits = plan?.limits.get(task.id)
    const replay = replayEpisode(environment, episode, {
      strict,
      scoring: scoring ?? null,
      limits,
      mayLeave,
      declaredOnly,
    })
    read += 1
    steps += replay.steps
    const name = `${task.id} ${attempt}`
    const earlier = digests.get(name)
    const isPlanned = plan?.holds(record) ?? true
    if (!isPlanned) unplanned += 1
    else if (!earlier) planned += 1
    if (!earlier) digests.set(name, { digest, line })
    else if (earlier.digest === digest) repeated += 1
    else conflicting += 1
    // One divergence for each line, and of several the one that says most.
    if (replay.kind === 'diverged' && replay.divergence.cause === 'edited') diverge(replay.divergence)
    else if (plan && !plan.fits(record)) diverge(record)
    else if (replay.kind === 'diverged') diverge(replay.divergence)
    else if (earlier && earlier.digest !== digest) diverge(conflictOf(record, earlier.line, line))
    else counts[replay.kind] += 1
    onEpisode({ episodes: read, diverged: counts.diverged })
  }
  const divergences = await describeAll(shown, plan)
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
    missing: scheduled === undefined ? null : Math.max(0, scheduled - planned),
  }
}

function conflictOf(record: EpisodeRecord, earlier: number, line: number): Divergence {
  const parting = { step: null, field: 'line', recorded: `line ${line}`, replayed: `line ${earlier}`, failure: null }
  return describeDivergence(record, parting, { cause: 'conflict', failure: null })
}

/** Says of each record that does not fit the plan in what it does not: one more look at the tasks tells that of all. */
async function describeAll(
  shown: readonly (Divergence | EpisodeRecord)[],
  plan: RecordedPlan | undefined,
): Promise<Divergence[]> {
  const unfit = shown.filter((one): one is EpisodeRecord => !isDivergence(one))
  if (!plan || unfit.length === 0) return shown.filter(isDivergence)
  const differences = await plan.explain(unfit)
  return shown.map((one) => {
    if (isDivergence(one)) return one
    const difference = differences[unfit.indexOf(one)] ?? { field: 'task', recorded: one.task, replayed: undefined }
    return describeDivergence(
      one,
      { ...difference, step: null, failure: null },
      { cause: 'plan-differs', failure: null },
    )
  })
}

function isDivergence(one: Divergence | EpisodeRecord): one is Divergence {
  return 'cause' in one
}
