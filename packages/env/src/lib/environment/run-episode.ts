import type { EpisodeEnd } from '@episodic/protocol'
import type { ModelAnswer } from '../policy/policy.ts'
import { closedEpisode } from '../session/closed-episode.ts'
import { finishedEpisode, interruptedEpisode } from './conclude.ts'
import type { Environment, ResetResult } from './environment.ts'
import type { Episode, EpisodeOptions, EpisodeOrigin, PlayedStep } from './episode.ts'
import { playGiven, playOn, resumePlayer } from './play-on.ts'

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
    const { task = {}, seed, signal, origin } = options
    start = origin
      ? atOrigin(await environment.restore(origin.snapshot, { signal }), origin)
      : await environment.reset(task, { seed, signal })
    if (origin?.call) steps.push(await playGiven(environment, origin.call, options))
    let end = steps[0]?.end ?? null
    if (!end) {
      const earlier = origin ? [...origin.steps, ...steps] : []
      const player = await resumePlayer(environment, origin?.start ?? start, earlier, options)
      const playing = { environment, start, steps, undecided, player, before: origin?.steps.at(-1) }
      end = await playOn(playing, Number.POSITIVE_INFINITY, options)
    }
    episode = finishedEpisode(start, steps, end as EpisodeEnd)
  } catch (cause) {
    episode = await interruptedEpisode({ environment, start, steps, undecided }, cause)
  }
  return closedEpisode(environment, episode)
}

/** Returns the start of an episode that goes on from a step: what its player reads is the answer of that step. */
function atOrigin(restored: ResetResult, { steps, answer }: EpisodeOrigin): ResetResult {
  const observation = steps.at(-1)?.observation ?? restored.observation
  return { ...restored, observation: answer === undefined ? observation : { ...observation, text: answer } }
}
