import type { Host, TrainerSessionRef } from '@episodic/mcp-server'
import {
  type Action,
  DEFAULT_SEAT,
  type EpisodeEnd,
  type JsonObject,
  type Observation,
  type OpenResult,
  type Refusal,
} from '@episodic/protocol'
import { createTurns } from './in-turn.ts'
import { leaveSession } from './leave-session.ts'
import { type EpisodeRequest, openSession } from './open-session.ts'
import { playStep, rewardOf } from './play-step.ts'

/**
 * What a step reports as its reward.
 *
 * - `steps`: the sum of the raw terms of that step.
 * - `return`: 0, and the sum over all steps with the step that ends the episode. For clients that read only the last
 *   reward of an episode. An episode that is closed before its end reports no return.
 */
export type RewardMode = 'steps' | 'return'

export interface EpisodeStep {
  readonly observation: Observation
  /** Why the step changed nothing, and `null` if it was played. A refused step is rewarded and counted too. */
  readonly refused: Refusal | null
  /** The reward of this step by the episode's {@link RewardMode}. */
  readonly reward: number
  /** The raw terms of this step, in both modes. */
  readonly terms: Readonly<Record<string, number>>
  readonly return: number
  readonly seq: number
  readonly potential: number | null
  readonly end: EpisodeEnd | null
  /** Whether the episode succeeded; only with `end`, and only if the environment defines success. */
  readonly success?: boolean | undefined
  readonly replayed: boolean
}

export async function openEpisode(
  host: Host,
  principal: string | null,
  request: EpisodeRequest,
  rewards: RewardMode,
): Promise<TrainerEpisode> {
  const { opened, session } = await openSession(host, principal, request)
  return new TrainerEpisode(opened, session, rewards)
}

/**
 * One session of a host, as the trainer endpoints of other protocols play it: it counts the steps itself, because those
 * protocols have no `seq`, and adds up the rewards.
 *
 * Steps are played one after another. A step that fails is not counted, so repeating the same action is safe: it is
 * played once, and returns the stored answer if the failed call had played it. Another action in its place is then
 * rejected as `seq-reused`: what the failed call earned would be lost.
 */
export class TrainerEpisode {
  readonly opened: OpenResult
  readonly #session: TrainerSessionRef
  readonly #rewards: RewardMode
  #seq: number
  #return = 0
  #end: EpisodeEnd | null = null
  readonly #inTurn = createTurns()

  constructor(opened: OpenResult, session: TrainerSessionRef, rewards: RewardMode) {
    this.opened = opened
    this.#session = session
    this.#rewards = rewards
    this.#seq = this.#seat.seq
  }

  get observation(): Observation {
    return this.#seat.observation
  }

  get seq(): number {
    return this.#seq
  }

  get return(): number {
    return this.#return
  }

  get end(): EpisodeEnd | null {
    return this.#end
  }

  /**
   * Plays an action as the next step. With the `seq` of the previous step, returns the stored answer of that step.
   * Rejects with the errors of `SessionRef.step`, and with `internal` if the answer has a secret of the session in it.
   */
  step(action: Action, { seq }: { readonly seq?: number | undefined } = {}): Promise<EpisodeStep> {
    return this.#inTurn(() => this.#play(action, seq ?? this.#seq))
  }

  async state(): Promise<JsonObject> {
    return (await this.#session.view()).state
  }

  /** Ends the episode and removes its session. Does nothing if it is gone already. */
  async close(): Promise<void> {
    await leaveSession(this.#session)
  }

  get #seat() {
    return this.opened.seats[DEFAULT_SEAT] as OpenResult['seats'][string]
  }

  async #play(action: Action, seq: number): Promise<EpisodeStep> {
    const { step, replayed } = await playStep(this.#session, action, seq)
    const { observation, report } = step
    const raw = rewardOf(step)
    if (report.seq > this.#seq) {
      this.#seq = report.seq
      this.#return += raw
      this.#end = report.end
    }
    return {
      observation,
      refused: report.refused,
      reward: this.#rewards === 'steps' ? raw : report.end ? this.#return : 0,
      terms: report.terms,
      return: this.#return,
      seq: report.seq,
      potential: report.potential,
      end: report.end,
      success: report.success,
      replayed,
    }
  }
}
