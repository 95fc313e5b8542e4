import type { EpisodeEnd } from '@episodic/protocol'
import type { ModelAnswer } from '../policy/policy.ts'
import { closedEpisode, finishedEpisode, interruptedEpisode } from './conclude.ts'
import type { Environment, ResetResult } from './environment.ts'
import type { Episode, EpisodeOptions, PlayedStep } from './episode.ts'
import { contextOf, playOn } from './play-on.ts'

/**
 * Plays one episode to its end, closes its environment and resolves with the episode.
 *
 * Never rejects: after a crash, an abort or a failed close the episode is `failed` and has the steps that were played.
 * So one fault neither stops a run nor is scored as a bad answer. Of several failures, `cause` is the first. A player
 * that throws {@link PlayerStop} has caused the end itself: its episode is finished, truncated and not succeeded.
 */
export async function runEpisode(options: EpisodeOptions): Promise<Episode> {
  const steps: PlayedStep[] = []
  const undecided: ModelAnswer[] = []
  let start: ResetResult | null = null
  let environment: Environment | null = null
  let episode: Episode
  try {
    environment = options.createEnvironment()
    const { task = {}, seed, signal } = options
    start = await environment.reset(task, { seed, signal })
    const player = await options.policy.start(contextOf(environment, start, options))
    const playing = { environment, start, steps, undecided, player }
    const end = await playOn(playing, Number.POSITIVE_INFINITY, options)
    episode = finishedEpisode(start, steps, end as EpisodeEnd)
  } catch (cause) {
    episode = await interruptedEpisode({ environment, start, steps, undecided }, cause)
  }
  return closedEpisode(environment, episode)
}
