import type { Action, Limits } from '@episodic/protocol'
import { MOST_ANSWER_BYTES } from '@episodic/protocol/internal'
import { EnvError } from '../env-error.ts'
import type { ResetResult } from '../environment/environment.ts'
import type { CallOptions } from '../session/call-options.ts'
import { type StepResult, stepResultOf } from '../session/step-result.ts'
import type { ExternalSession } from './external-session.ts'

/** What is known of an episode besides its session. */
export interface EpisodeSetting {
  readonly seed: string
  readonly limits: Limits
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export type ExternalEpisode = ReturnType<typeof createExternalEpisode>

/**
 * Begins an episode on an external server: counts its steps and applies its limits.
 *
 * No step follows a fault, because the state of the server is then unknown.
 */
export function createExternalEpisode(session: ExternalSession, { seed, limits, now }: EpisodeSetting) {
  const began = now()
  let seq = 0
  /** Why no step may follow; `null` while steps are possible. */
  let over: string | null = null
  const { observation, params } = session
  const start: ResetResult = {
    observation,
    info: { id: null, capability: null, params, seed, limits, potential: null },
  }
  return {
    start,
    async step(action: Action, options: CallOptions): Promise<StepResult> {
      if (over) throw new EnvError('not-playing', `${over}, so no step follows. Call reset to play again.`)
      options.signal?.throwIfAborted()
      // Until the step is known to have gone well, it has not.
      over = 'The episode failed'
      const late = limits.seconds !== null && now() - began >= limits.seconds * 1_000
      const truncation = late ? 'time-limit' : seq + 1 >= limits.steps ? 'step-limit' : null
      const { observation, refused, terms, end, success } = await session.play({ action, truncation, late }, options)
      const judged = success === undefined ? {} : { success }
      const bytes = new TextEncoder().encode(JSON.stringify(observation)).length
      const most = Math.min(limits.bytes, MOST_ANSWER_BYTES)
      if (bytes > most)
        throw new EnvError(
          'reply-malformed',
          `The server's answer to ${action.tool} has ${bytes} bytes, and the limit is ${most}.`,
        )
      seq += 1
      const step = stepResultOf({
        observation,
        reward: { total: Object.values(terms).reduce((sum, term) => sum + term, 0), terms, shaping: 0 },
        end: end ?? (truncation && { kind: 'truncated', reason: truncation }),
        info: { seq, potential: null, refused, stateHash: null, replayed: false, ...judged },
      })
      over = step.end && 'The episode is over'
      return step
    },
    close(): Promise<void> {
      over = 'The episode is closed'
      return session.close()
    },
  }
}
