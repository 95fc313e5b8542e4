import type { Environment } from '@episodic/mcp-server'
import type { Divergence } from './divergence.ts'
import type { RecordedEpisode } from './read-recorded.ts'
import { replayEpisode } from './replay-episode.ts'

/** What replaying a run came to. */
export interface ReplaySummary {
  /** Lines that were read. `episodes = replayed + diverged + notReplayable`. */
  readonly episodes: number
  /** Steps that gave what was recorded. */
  readonly steps: number
  /** Episodes that gave all that was recorded. */
  readonly replayed: number
  readonly diverged: number
  /** Episodes whose state a foreign server kept, or that never began. Their chains are checked all the same. */
  readonly notReplayable: number
  /** Of the episodes, those whose rules were kept from the machine's own chance, time, timers and network. */
  readonly strict: number
  readonly seconds: number
  readonly stepsPerSecond: number
  /** The first few. */
  readonly divergences: readonly Divergence[]
}

/**
 * How many episodes of a run are replayed strictly, which takes about twice as long. What the rules reach for shows
 * in the first ones; all others are compared as closely, and one that diverges is looked at strictly too.
 */
export const STRICT_EPISODES = 32

const SHOWN = 10

/** Replays recorded episodes one after the other. Holds one of them at a time. Throws what {@link replayEpisode} throws. */
export async function replayRun(
  environment: Environment,
  episodes: AsyncIterable<RecordedEpisode>,
  onEpisode: (summary: Pick<ReplaySummary, 'episodes' | 'diverged'>) => void = () => {},
): Promise<ReplaySummary> {
  const counts = { reproduced: 0, diverged: 0, 'not-replayable': 0 }
  const divergences: Divergence[] = []
  let read = 0
  let steps = 0
  const began = performance.now()
  for await (const episode of episodes) {
    const replay = replayEpisode(environment, episode, read < STRICT_EPISODES)
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
  }
}
