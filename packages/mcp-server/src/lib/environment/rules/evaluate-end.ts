import type { EpisodeEnd, StepReport } from '@episodic/protocol'
import type { SessionRecord } from '@episodic/state'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import { callsOf } from './episode-calls.ts'

export interface EndedEpisode extends Pick<SessionRecord, 'state' | 'params' | 'history'> {
  readonly end: EpisodeEnd
  /** The seat that is judged. */
  readonly seat: string
}

/** Whether an ended episode succeeded, and the further verdicts on it, as far as the environment defines them. */
export type Judgement = Pick<StepReport, 'success' | 'verdicts'>

export function evaluateEnd(
  environment: EnvironmentDefinition,
  { end, state, params, history, seat }: EndedEpisode,
): Judgement {
  const { hasSuccess, verdictNames } = environment
  if (!hasSuccess && verdictNames.length === 0) return NONE
  const final = { end, state, params, calls: callsOf(environment, history) }
  return {
    ...(hasSuccess && { success: environment.success(final, seat) === true }),
    ...(verdictNames.length > 0 && { verdicts: environment.verdicts(final, seat) }),
  }
}

const NONE: Judgement = {}
