import type { Action, EnvironmentInfo, EpisodeEnd, JsonObject, Limits, Truncation } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'
import { type CallOptions, type ResetResult, type StepResult, stepResultOf } from '../environment/environment.ts'
import { type ExternalEnvironment, type ExternalSetting, runRule } from './external-environment.ts'
import { type EpisodeServer, openEpisodeServer } from './external-episode-server.ts'
import { callTool, createExternalServer, type ToolAnswer } from './external-server.ts'

/** The input of `ExternalEpisode.open`. */
export interface ExternalEpisodeRequest extends ExternalSetting<JsonObject> {
  readonly definition: ExternalEnvironment
  readonly info: EnvironmentInfo
  readonly limits: Limits
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * One episode on its own server, played and scored by this process.
 *
 * No call is repeated, and no call follows a fault, because the state of the server is then unknown.
 */
export class ExternalEpisode {
  readonly start: ResetResult
  readonly #request: ExternalEpisodeRequest
  readonly #server: EpisodeServer
  readonly #began: number
  #state: unknown
  #seq = 0
  /** Why no step may follow; `null` while steps are possible. */
  #over: string | null = null

  private constructor(request: ExternalEpisodeRequest, server: EpisodeServer, begun: { state: unknown; text: string }) {
    const { params, seed, limits, now } = request
    this.#request = request
    this.#server = server
    this.#state = begun.state
    this.#began = now()
    this.start = {
      observation: { text: begun.text, structured: null },
      info: { id: null, capability: null, params, seed, limits, potential: null },
    }
  }

  /** Starts the episode's server and sets it up. If that fails, stops the server. */
  static async open(request: ExternalEpisodeRequest, options: CallOptions): Promise<ExternalEpisode> {
    const { definition, params, seed } = request
    const server = await openEpisodeServer(definition, { params, seed }, options)
    try {
      const tools = createExternalServer(server.channel, options)
      await runRule('prepare', options, () => definition.prepare?.(tools, { params, seed }))
      const state = await readState(request, server, options)
      const text = await runRule('observe', options, () => definition.observe(state, params))
      return new ExternalEpisode(request, server, { state, text })
    } catch (error) {
      await server.close().catch(() => {})
      throw error
    }
  }

  async step(action: Action, options: CallOptions): Promise<StepResult> {
    if (this.#over) throw new EnvError('not-playing', `${this.#over}, so no step follows. Call reset to play again.`)
    options.signal?.throwIfAborted()
    // Until the step is known to have gone well, it has not.
    this.#over = 'The episode failed'
    const { limits, now } = this.#request
    const late = limits.seconds !== null && now() - this.#began >= limits.seconds * 1_000
    const answer = late ? LATE : await this.#act(action, options)
    this.#seq += 1
    const truncation = late ? 'time-limit' : this.#seq >= limits.steps ? 'step-limit' : null
    const step = await this.#score(action, answer, truncation, options)
    this.#over = step.end && 'The episode is over'
    return step
  }

  close(): Promise<void> {
    this.#over = 'The episode is closed'
    return this.#server.close()
  }

  async #act(action: Action, options: CallOptions): Promise<ToolAnswer> {
    const { info, limits } = this.#request
    if (!info.tools.some(({ name }) => name === action.tool)) {
      const names = info.tools.map(({ name }) => name).join(', ')
      const text = `There is no tool "${action.tool}". The tools are: ${names}.`
      return { observation: { text, structured: null }, refused: 'tool' }
    }
    const answer = await callTool(this.#server.channel, action, options)
    const bytes = new TextEncoder().encode(JSON.stringify(answer.observation)).length
    if (bytes <= limits.bytes) return answer
    throw new EnvError(
      'reply-malformed',
      `The server's answer to ${action.tool} has ${bytes} bytes, and the limit is ${limits.bytes}.`,
    )
  }

  async #score(
    action: Action,
    { observation, refused }: ToolAnswer,
    truncation: Truncation | null,
    options: CallOptions,
  ): Promise<StepResult> {
    const { definition, params } = this.#request
    const before = this.#state
    // An action that was not sent changed nothing.
    const sent = refused !== 'tool' && refused !== 'time'
    const after = sent ? await readState(this.#request, this.#server, options) : before
    this.#state = after
    const transition = { before, action, observation, refused, after, params }
    const reason = await runRule('end', options, () => definition.end?.(transition) ?? null)
    const end: EpisodeEnd | null =
      reason !== null ? { kind: 'terminated', reason } : truncation && { kind: 'truncated', reason: truncation }
    const terms: Record<string, number> = {}
    let total = 0
    for (const [name, term] of Object.entries(definition.rewards)) {
      const value = await runRule(`reward term "${name}"`, options, () => term({ ...transition, end }))
      if (!Number.isFinite(value))
        throw new EnvError('rules-failed', `The reward term "${name}" is ${value}, and has to be a finite number.`)
      terms[name] = value
      total += value
    }
    return stepResultOf({
      observation,
      reward: { total, terms, shaping: 0 },
      end,
      info: { seq: this.#seq, potential: null, refused, stateHash: null, replayed: false },
    })
  }
}

/** The answer to a call after the time limit. */
const LATE: ToolAnswer = {
  observation: { text: 'The time of this episode has run out. The call was not made.', structured: null },
  refused: 'time',
}

function readState(request: ExternalEpisodeRequest, server: EpisodeServer, options: CallOptions): Promise<unknown> {
  const { definition, params, seed } = request
  const tools = createExternalServer(server.channel, options)
  return runRule('read', options, () => definition.read?.(tools, { params, seed }) ?? null)
}
