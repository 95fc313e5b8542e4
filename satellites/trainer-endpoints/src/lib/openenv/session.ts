import type { Host } from '@episodic/mcp-server'
import { type Action, type EnvironmentInfo, type JsonObject, WireError } from '@episodic/protocol'
import { createTurns } from '../episode/in-turn.ts'
import { type EpisodeStep, openEpisode, type RewardMode, type TrainerEpisode } from '../episode/trainer-episode.ts'
import { parseReset } from './reset-request.ts'

export interface SessionSetting {
  readonly host: Host
  readonly info: EnvironmentInfo
  readonly principal: string | null
  readonly rewards: RewardMode
}

/**
 * One session of OpenEnv: one episode after another, each of them a session of the host. Calls are answered one after
 * another.
 */
export class OpenEnvSession {
  readonly setting: SessionSetting
  #episode: TrainerEpisode | null = null
  #episodeId: string | null = null
  readonly #inTurn = createTurns()
  #closed = false

  constructor(setting: SessionSetting) {
    this.setting = setting
  }

  /** Closes the episode, and opens the next one. Rejects with the errors of `openEpisode`; then there is no episode. */
  reset(data: JsonObject): Promise<TrainerEpisode> {
    return this.#inTurn(() => this.#open(data))
  }

  /**
   * Plays a step of the episode. Rejects with `invalid-request` before the first reset, unless it `opens` an episode
   * with default parameters then: for clients that have no reset.
   */
  step(action: Action, { opens = false }: { readonly opens?: boolean } = {}): Promise<EpisodeStep> {
    return this.#inTurn(async () => {
      const episode = this.#episode ?? (opens ? await this.#open({}) : null)
      if (episode) return episode.step(action)
      // After a lost connection, a client goes on with a new session without knowing it.
      throw new WireError('invalid-request', 'This session has no episode: send reset first.')
    })
  }

  /** The private part never crosses to a client. */
  state(): Promise<JsonObject> {
    return this.#inTurn(async () => ({
      ...(await this.#episode?.state()),
      episode_id: this.#episodeId,
      step_count: this.#episode?.seq ?? 0,
    }))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#inTurn(() => this.#leaveEpisode())
  }

  async #open(data: JsonObject): Promise<TrainerEpisode> {
    const { host, info, principal, rewards } = this.setting
    if (this.#closed) throw new WireError('session-not-found', 'This session is closed.')
    const { episodeId, ...request } = parseReset(info, data)
    await this.#leaveEpisode()
    const episode = await openEpisode(host, principal, request, rewards)
    this.#episode = episode
    this.#episodeId = episodeId ?? episode.opened.id
    return episode
  }

  async #leaveEpisode(): Promise<void> {
    const episode = this.#episode
    this.#episode = null
    this.#episodeId = null
    await episode?.close()
  }
}
