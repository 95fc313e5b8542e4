import type { Host, TrainerSessionRef } from '@episodic/mcp-server'
import {
  type Action,
  type EnvironmentInfo,
  type JsonObject,
  type LoggedStep,
  type OpenResult,
  WireError,
} from '@episodic/protocol'
import { createTurns } from '../episode/in-turn.ts'
import { leaveSession } from '../episode/leave-session.ts'
import { openSession } from '../episode/open-session.ts'
import { playStep, rewardOf } from '../episode/play-step.ts'
import type { RewardMode } from '../episode/reward-mode.ts'
import { parseReset } from './reset-request.ts'

export interface SessionSetting {
  readonly host: Host
  readonly info: EnvironmentInfo
  readonly principal: string | null
  readonly rewards: RewardMode
}

export interface EpisodeStep extends LoggedStep {
  /** The reward of this step by the {@link RewardMode} of the endpoint. */
  readonly reward: number
  /** The sum of the raw terms of this step and all earlier ones. */
  readonly return: number
}

interface Episode {
  /** As the client names it, or the host. */
  readonly id: string
  readonly ref: TrainerSessionRef
  /** Answered steps: the protocol has no `seq`. */
  seq: number
  return: number
}

/**
 * One session of OpenEnv: one episode after another, each of them a session of the host. Calls are answered one after
 * another.
 *
 * A step that fails is not counted, so repeating the same action is safe: it is played once, and returns the stored
 * answer if the failed call had played it. Another action in its place is then rejected as `seq-reused`: what the
 * failed call earned would be lost.
 */
export class OpenEnvSession {
  readonly setting: SessionSetting
  #episode: Episode | null = null
  readonly #inTurn = createTurns()
  #closed = false

  constructor(setting: SessionSetting) {
    this.setting = setting
  }

  /** Closes the episode, and opens the next one. Rejects with the errors of `openSession`; then there is no episode. */
  reset(data: JsonObject): Promise<OpenResult> {
    return this.#inTurn(() => this.#open(data))
  }

  /**
   * Plays a step of the episode. Rejects with `invalid-request` before the first reset, unless it `opens` an episode
   * with default parameters then: for clients that have no reset.
   */
  step(action: Action, { opens = false }: { readonly opens?: boolean } = {}): Promise<EpisodeStep> {
    return this.#inTurn(async () => {
      if (!this.#episode && opens) await this.#open({})
      const episode = this.#episode
      // After a lost connection, a client goes on with a new session without knowing it.
      if (!episode) throw new WireError('invalid-request', 'This session has no episode: send reset first.')
      const step = await playStep(episode.ref, action, episode.seq)
      const raw = rewardOf(step)
      episode.seq = step.report.seq
      episode.return += raw
      const reward = this.setting.rewards === 'steps' ? raw : step.report.end ? episode.return : 0
      return { ...step, reward, return: episode.return }
    })
  }

  /** The private part never crosses to a client. */
  state(): Promise<JsonObject> {
    return this.#inTurn(async () => {
      const { ref, id = null, seq = 0 } = this.#episode ?? {}
      return { ...(await ref?.view())?.state, episode_id: id, step_count: seq }
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#inTurn(() => this.#leaveEpisode())
  }

  async #open(data: JsonObject): Promise<OpenResult> {
    const { host, info, principal } = this.setting
    if (this.#closed) throw new WireError('session-not-found', 'This session is closed.')
    const { episodeId, ...request } = parseReset(info, data)
    await this.#leaveEpisode()
    const { opened, session: ref } = await openSession(host, principal, request)
    this.#episode = { id: episodeId ?? opened.id, ref, seq: 0, return: 0 }
    return opened
  }

  async #leaveEpisode(): Promise<void> {
    const episode = this.#episode
    this.#episode = null
    if (episode) await leaveSession(episode.ref)
  }
}
