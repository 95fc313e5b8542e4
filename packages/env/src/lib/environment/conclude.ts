import type { EpisodeEnd } from '@episodic/protocol'
import { judgementOf } from '@episodic/protocol/internal'
import { PlayerStop } from '../policy/player-stop.ts'
import type { ModelAnswer } from '../policy/policy.ts'
import type { Environment, ResetResult } from './environment.ts'
import type { Episode, PlayedStep } from './episode.ts'

export interface Begun {
  readonly environment: Environment | null
  readonly start: ResetResult | null
  readonly steps: readonly PlayedStep[]
  readonly undecided: readonly ModelAnswer[]
}

export function finishedEpisode(start: ResetResult, steps: readonly PlayedStep[], end: EpisodeEnd): Episode {
  return { kind: 'finished', start, steps, end, ...judgementOf(steps.at(-1)?.info ?? {}) }
}

/**
 * Resolves with the episode whose play threw: finished if its player stopped, and else failed. The environment may
 * judge in a last step what a player has left. The caller closes it, which ends the session too.
 */
export async function interruptedEpisode(begun: Begun, cause: unknown): Promise<Episode> {
  const { environment, start, undecided } = begun
  if (!PlayerStop.is(cause) || !start || !environment)
    return { kind: 'failed', start, steps: begun.steps, cause, undecided }
  const { code: reason, message, success } = cause
  let { steps } = begun
  let { verdicts } = cause
  try {
    // A world may have ended while its player stopped.
    const { action = null, verdicts: judged } = (steps.at(-1)?.end ? null : await environment.leave?.()) ?? {}
    verdicts ??= judged
    if (action) steps = [...steps, { ...(await environment.step(action)), action, completions: [], milliseconds: 0 }]
  } catch (failure) {
    return { kind: 'failed', start, steps: begun.steps, cause: failure, undecided }
  }
  return {
    kind: 'finished',
    start,
    steps,
    end: { kind: 'truncated', reason },
    ...(environment.info.success && { success }),
    ...judgementOf({ verdicts: verdicts ?? steps.at(-1)?.info.verdicts }),
    ...(reason !== 'closed' && { stopped: { reason, message } }),
    undecided,
  }
}
