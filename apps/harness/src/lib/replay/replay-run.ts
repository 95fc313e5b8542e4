import type { Environment } from '@episodic/mcp-server'
import type { Divergence } from './divergence.ts'
import type { RecordedEpisode } from './read-recorded.ts'
import { replayEpisode } from './replay-episode.ts'
import type { Scoring } from './scoring.ts'
import type { TaskLimits } from './task-limits.ts'

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
  /** Of the episodes, those whose rules were kept from the machine's own chance, time, timers and network. */
  readonly strict: number
  readonly seconds: number
  readonly stepsPerSecond: number
  /** The first few. */
  readonly divergences: readonly Divergence[]
  /** Scheduled episodes that are not there; `null` where it is not known how many were. */
  readonly missing: number | null
}

/** What is known of the run that episodes are of. Default: nothing. */
export interface ReplayedRun {
  /** How it scored; without it, rewards are taken as they are recorded, and returns are their sums. */
  readonly scoring?: Scoring | undefined
  /** Of those of its tasks that are known. */
  readonly limits?: TaskLimits | undefined
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
 * Replays recorded episodes one after the other. Holds one of them at a time, and the names of all where it is known how
 * many there were to be. Throws what {@link replayEpisode} throws.
 */
export async function replayRun(
  environment: Environment,
  episodes: AsyncIterable<RecordedEpisode>,
  { scoring, limits, mayLeave, scheduled }: ReplayedRun = {},
  onEpisode: (summary: Pick<ReplaySummary, 'episodes' | 'diverged'>) => void = () => {},
): Promise<ReplaySummary> {
  const counts = { reproduced: 0, diverged: 0, 'not-replayable': 0 }
  const divergences: Divergence[] = []
  const names = new Set<string>()
  let read = 0
  let steps = 0
  const began = performance.now()
  for await (const episode of episodes) {
    const { task, attempt } = episode.record
    const replay = replayEpisode(environment, episode, {
      strict: read < STRICT_EPISODES,
      scoring: scoring ?? null,
      limits: limits?.get(task.id),
      mayLeave,
    })
    if (scheduled !== undefined) names.add(`${task.id} ${attempt}`)
    read += 1
    steps += replay.steps
    counts[replay.kind] += 1
    if (replay.kind === 'diverged' && divergences.length < SHOWN) divergences.push(replay.divergence)
    onEpisode({ episodes: read, diverged: counts.diverged })
  }
  const seconds = (performance.now() - began) / 1_000
  return {
    episodes: read,
    steps,
    replayed: counts.reproduced,
    diverged: counts.diverged,
    notReplayable: counts['not-replayable'],
    strict: Math.min(read, STRICT_EPISODES),
    seconds,
    stepsPerSecond: seconds > 0 ? steps / seconds : 0,
    divergences,
    missing: scheduled === undefined ? null : Math.max(0, scheduled - names.size),
  }
}
