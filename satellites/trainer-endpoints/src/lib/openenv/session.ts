import type { Host, TrainerSessionRef } from '@episodic/mcp-server'
import {
  type Action,
  type EnvironmentInfo,
  type JsonObject,
  type LimitsRequest,
  type LoggedStep,
  type OpenResult,
  WireError,
} from '@episodic/protocol'
import { formatUnknownKeys, isObject } from '@episodic/protocol/internal'
import { createTurns } from '../episode/in-turn.ts'
import { leaveSession } from '../episode/leave-session.ts'
import { offeredInfo } from '../episode/offered-info.ts'
import { type EpisodeRequest, openSession } from '../episode/open-session.ts'
import { playStep, rewardOf } from '../episode/play-step.ts'
import type { RewardMode } from '../episode/reward-mode.ts'

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

  /** Resolves with the environment, with the tools that the episode offers now. Without one: all. */
  info(): Promise<EnvironmentInfo> {
    return this.#inTurn(() => offeredInfo(this.setting.info, this.#episode?.ref))
  }

  /** Plays a step. Rejects with `invalid-request` before the first reset, unless it `opens` an episode by itself. */
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

interface ResetRequest extends EpisodeRequest {
  /** The client's own name for the episode, which `state` repeats; `null` if it gave none. */
  readonly episodeId: string | null
}

/** Members of a row of a task dataset that say nothing about how it is played. */
const OF_ROWS = ['id', 'environment', 'tools', 'prompt', 'hints', 'difficulty', 'split', 'tags', 'metadata']

/**
 * Reads the data of a reset: `seed`, `episode_id`, and parameters of the environment. A row of a task dataset can be
 * given as it is, because parameters and limits are also read from `params` and `limits`.
 *
 * Throws `invalid-params`, also for what the environment does not know: servers of this protocol leave it out, and then
 * a misspelt parameter would play another world without a word.
 */
function parseReset(info: EnvironmentInfo, data: JsonObject): ResetRequest {
  const { seed, episode_id: episodeId = null } = data
  if (episodeId !== null && (typeof episodeId !== 'string' || episodeId.length > 255))
    throw new WireError('invalid-params', 'An episode_id is a text of at most 255 characters.')
  const { properties, additionalProperties = false } = info.paramsSchema
  const names = isObject(properties) ? Object.keys(properties) : []
  const others = ['seed', 'episode_id', 'params', 'limits', ...OF_ROWS].filter((name) => !names.includes(name))
  const takesAny = additionalProperties !== false
  const named = Object.entries(data).filter(([name]) => !others.includes(name))
  // A client that fills in the members of its request sends `null` for those that were left out.
  const unknown = takesAny ? [] : named.filter(([name, value]) => !names.includes(name) && value !== null)
  if (unknown.length > 0)
    throw new WireError(
      'invalid-params',
      `Unknown parameters of ${info.name}: ${formatUnknownKeys(unknown.map(([name]) => ({ path: [name], known: names })))}`,
    )
  return {
    environment: info.name,
    seed,
    episodeId,
    params: {
      ...nested(data, 'params', names),
      ...(Object.fromEntries(named.filter(([name]) => takesAny || names.includes(name))) as JsonObject),
    },
    limits: nested(data, 'limits', names) as LimitsRequest | undefined,
  }
}

function nested(data: JsonObject, name: string, taken: readonly string[]): JsonObject | undefined {
  const value = data[name]
  if (value === undefined || value === null || taken.includes(name)) return undefined
  if (isObject(value)) return value as JsonObject
  throw new WireError('invalid-params', `${name} has to be an object.`)
}
