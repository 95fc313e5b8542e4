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

/**
 * One episode on an external server: counts its steps and applies its limits.
 *
 * No step follows a fault, because the state of the server is then unknown.
 */
export class ExternalEpisode {
  readonly start: ResetResult
  readonly #session: ExternalSession
  readonly #setting: EpisodeSetting
  readonly #began: number
  #seq = 0
  /** Why no step may follow; `null` while steps are possible. */
  #over: string | null = null

  constructor(session: ExternalSession, setting: EpisodeSetting) {
    const { seed, limits, now } = setting
    this.#session = session
    this.#setting = setting
    this.#began = now()
    this.start = {
      observation: session.observation,
      info: { id: null, capability: null, params: session.params, seed, limits, potential: null },
    }
  }

  async step(action: Action, options: CallOptions): Promise<StepResult> {
    if (this.#over) throw new EnvError('not-playing', `${this.#over}, so no step follows. Call reset to play again.`)
    options.signal?.throwIfAborted()
    // Until the step is known to have gone well, it has not.
    this.#over = 'The episode failed'
    const { limits, now } = this.#setting
    const late = limits.seconds !== null && now() - this.#began >= limits.seconds * 1_000
    const truncation = late ? 'time-limit' : this.#seq + 1 >= limits.steps ? 'step-limit' : null
    const { observation, refused, terms, end } = await this.#session.play({ action, truncation, late }, options)
    const bytes = new TextEncoder().encode(JSON.stringify(observation)).length
    if (bytes > Math.min(limits.bytes, MOST_ANSWER_BYTES))
      throw new EnvError(
        'reply-malformed',
        `The server's answer to ${action.tool} has ${bytes} bytes, and the limit is ${Math.min(limits.bytes, MOST_ANSWER_BYTES)}.`,
      )
    this.#seq += 1
    const step = stepResultOf({
      observation,
      reward: { total: Object.values(terms).reduce((sum, term) => sum + term, 0), terms, shaping: 0 },
      end: end ?? (truncation && { kind: 'truncated', reason: truncation }),
      info: { seq: this.#seq, potential: null, refused, stateHash: null, replayed: false },
    })
    this.#over = step.end && 'The episode is over'
    return step
  }

  close(): Promise<void> {
    this.#over = 'The episode is closed'
    return this.#session.close()
  }
}
