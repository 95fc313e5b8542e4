import type { EpisodeEnd } from '@episodic/protocol'
import { PlayerStop } from '../policy/player-stop.ts'
import type { ModelAnswer } from '../policy/policy.ts'
import type { Environment, ResetResult } from './environment.ts'
import { type Episode, type PlayedStep, successOf } from './episode.ts'

/** An episode that is being played, as far as it has come. */
export interface Begun {
  readonly environment: Environment | null
  readonly start: ResetResult | null
  readonly steps: readonly PlayedStep[]
  /** The answers of a language model since the last step. */
  readonly undecided: readonly ModelAnswer[]
}

/** Returns the episode that ended so. */
export function finishedEpisode(start: ResetResult, steps: readonly PlayedStep[], end: EpisodeEnd): Episode {
  return { kind: 'finished', start, steps, end, ...successOf(steps) }
}

/**
 * Returns the episode whose play threw: finished if its player stopped, and else failed. The caller closes the
 * environment, which ends the session too.
 */
export function interruptedEpisode({ environment, start, steps, undecided }: Begun, cause: unknown): Episode {
  if (!PlayerStop.is(cause) || !start || !environment) return { kind: 'failed', start, steps, cause, undecided }
  const { code: reason, message, success } = cause
  return {
    kind: 'finished',
    start,
    steps,
    end: { kind: 'truncated', reason },
    ...(environment.info.success && { success }),
    ...(reason !== 'closed' && { stopped: { reason, message } }),
    undecided,
  }
}

/**
 * Closes the environment of an episode that is over. If that fails, it is not known whether the episode has ended so.
 */
export async function closedEpisode(environment: Environment | null, episode: Episode): Promise<Episode> {
  try {
    await environment?.close()
  } catch (cause) {
    const { start, steps, undecided = [] } = episode
    if (episode.kind === 'finished') return { kind: 'failed', start, steps, cause, undecided }
  }
  return episode
}
