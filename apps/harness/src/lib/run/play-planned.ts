import type { BranchPoint, Environment, Policy } from '@episodic/env'
import type { EpisodeRecord } from '@episodic/protocol'
import type { PlannedEpisode } from './plan.ts'
import { playRollout } from './play-rollout.ts'
import { type Sealing, sealEpisode } from './seal-episode.ts'

/** The sitting of a run that an episode is played in. */
export interface Sitting {
  /** The name of the run. */
  readonly run: string
  /** Gives the episode up. */
  readonly signal: AbortSignal
  /** Milliseconds since the run began. */
  now(): number
}

/**
 * Plays what is planned and makes its records, one for each episode of a tree; none where it could not be played to its
 * end, for a resumed run to play. What it throws stops the run.
 */
export type PlayPlanned = (planned: PlannedEpisode, sitting: Sitting) => Promise<readonly EpisodeRecord[]>

export interface PlayPlannedOptions {
  readonly createEnvironment: () => Environment
  readonly policy: Policy
  readonly seed: string
  readonly discount: number
  /** Makes a tree of episodes of each that is planned, forked at these points. Default: none. */
  readonly branch?: readonly BranchPoint[]
  /** What lines keep of an action. Default: all of it. */
  readonly accept?: Sealing['accept']
}

/** Plays in this process. */
export function createPlayPlanned(options: PlayPlannedOptions): PlayPlanned {
  const { createEnvironment, policy, seed, discount, branch = [], accept } = options
  return async (planned, { run, signal, now }) => {
    const started = now()
    const played = await playRollout(planned, { createEnvironment, policy, seed, branch, signal, now })
    if (signal.aborted && played.some(({ episode }) => episode.kind === 'failed')) return []
    return played.map(({ attempt, episode, policySeed, branch, ended }) => {
      const time = { started, ended }
      const sealing = {
        run,
        policy: { name: policy.name, seed: policySeed },
        discount,
        branch,
        time,
        ...(accept && { accept }),
      }
      return sealEpisode(episode, { task: planned.task, attempt }, sealing)
    })
  }
}
