import type { EpisodeRecord } from '@episodic/protocol'
import { countLeaves } from './count-leaves.ts'
import type { PlannedEpisode } from './plan.ts'
import { playPlan } from './play-plan.ts'
import { createPlayPlanned, type PlayPlannedOptions } from './play-planned.ts'

export interface PlayOptions extends PlayPlannedOptions {
  readonly run: string
  /** Episodes in flight at once. A tree has all of its lines in flight, and one tree is played however many those are. */
  readonly concurrency: number
  /** Milliseconds that earlier sittings of the run have taken, so that its time goes on where it stopped. */
  readonly elapsed?: number
  /** Keeps a record. What it throws stops the run. */
  readonly seal: (record: EpisodeRecord) => Promise<void>
  readonly signal?: AbortSignal | undefined
}

/**
 * Plays a plan with a bounded number of episodes in flight and seals each as it lands.
 *
 * After an abort, what is in flight is dropped unsealed, for a resumed run to play. So is an episode that never began
 * because no server answered: nothing of it was played. A tree of episodes is dropped whole, and sealed at its end. One that lost its server on the way is sealed as failed. Where
 * the server is gone for good (as many episodes in a row as can be in flight, twice, found nobody there), it throws
 * `server-failed` and leaves the rest of the plan unplayed.
 */
export async function playEpisodes(plan: AsyncIterable<PlannedEpisode>, options: PlayOptions): Promise<void> {
  const inFlight = plannedInFlight(options.concurrency, options.branch)
  await playPlan(plan, { ...options, inFlight, play: createPlayPlanned(options) })
}

/** How many of a plan may be in flight, where so many episodes may. */
export function plannedInFlight(concurrency: number, branch: PlayPlannedOptions['branch'] = []): number {
  return Math.max(1, Math.floor(concurrency / countLeaves(branch)))
}
