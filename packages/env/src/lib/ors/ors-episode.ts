import {
  type Action,
  type EnvironmentInfo,
  type EpisodeEnd,
  type JsonObject,
  jsonObjectSchema,
  type Limits,
  type Refusal,
  type Truncation,
} from '@episodic/protocol'
import { every, randomText } from '@episodic/protocol/extend'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'
import {
  type CallOptions,
  type Playable,
  type ResetResult,
  type StepResult,
  stepResultOf,
} from '../environment/environment.ts'
import { type OrsAnswer, type OrsClient, textOf } from './ors-client.ts'

/** The input of `OrsEpisode.open`. */
export interface OrsEpisodeRequest {
  readonly client: OrsClient
  readonly info: EnvironmentInfo
  readonly task: Playable
  readonly seed: string | undefined
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** Milliseconds between two signs of life: a server may remove a session that shows none. */
const PING = 10_000

/** Where a task is, or what it is. */
const placeSchema = z.strictObject({
  split: z.string().optional(),
  index: z.int().default(0),
  task: jsonObjectSchema.optional(),
})

/** The reasons for which a server refuses a call, as refusals of a step. */
const REFUSALS: Readonly<Record<string, Refusal>> = { not_found: 'tool', input_validation: 'arguments' }

/** One session of a server. After a fault no step follows, because the state of the server is then unknown. */
export class OrsEpisode {
  readonly start: ResetResult
  readonly #request: OrsEpisodeRequest
  readonly #session: string
  readonly #limits: Limits
  readonly #began: number
  readonly #stopPings: () => void
  #seq = 0
  /** Why no step may follow; `null` while steps are possible. */
  #over: string | null = null

  private constructor(request: OrsEpisodeRequest, session: string, opened: { params: JsonObject; text: string }) {
    const { client, info, task, seed = randomText(), now } = request
    this.#request = request
    this.#session = session
    this.#limits = {
      steps: task.limits?.steps ?? info.limits.steps,
      seconds: task.limits?.seconds ?? info.limits.seconds,
      bytes: task.limits?.bytes ?? info.limits.bytes,
    }
    this.#began = now()
    // The next call reports what a failed ping could.
    this.#stopPings = every(PING, () => void client.ping(session).catch(() => {}))
    this.start = {
      observation: { text: opened.text, structured: null },
      info: { id: null, capability: null, params: opened.params, seed, limits: this.#limits, potential: null },
    }
  }

  /** Opens a session and reads its prompt. Rejects with `option-invalid` for parameters that name no task. */
  static async open(request: OrsEpisodeRequest, options: CallOptions): Promise<OrsEpisode> {
    const { client, info, task } = request
    const { creation, params } = creationOf(info, task)
    const session = await client.open(creation, options)
    try {
      const text = await client.prompt({ environment: info.name, session }, options)
      return new OrsEpisode(request, session, { params, text })
    } catch (error) {
      await client.delete(session).catch(() => {})
      throw error
    }
  }

  async step(action: Action, options: CallOptions): Promise<StepResult> {
    if (this.#over) throw new EnvError('not-playing', `${this.#over}, so no step follows. Call reset to play again.`)
    options.signal?.throwIfAborted()
    // Until the step is known to have gone well, it has not.
    this.#over = 'The episode failed'
    const { client, info, now } = this.#request
    const { steps, seconds, bytes } = this.#limits
    const late = seconds !== null && now() - this.#began >= seconds * 1_000
    const call = { name: action.tool, input: action.arguments }
    const answer = late ? LATE : await client.call({ environment: info.name, session: this.#session }, call, options)
    if (new TextEncoder().encode(JSON.stringify(answer)).length > bytes)
      throw new EnvError('reply-malformed', `The answer to ${action.tool} has more bytes than the limit, ${bytes}.`)
    this.#seq += 1
    const truncation = late ? 'time-limit' : this.#seq >= steps ? 'step-limit' : null
    const step = this.#stepOf(answer, truncation, late)
    this.#over = step.end && 'The episode is over'
    return step
  }

  async close(): Promise<void> {
    this.#over = 'The episode is closed'
    this.#stopPings()
    // A session that cannot be deleted expires.
    await this.#request.client.delete(this.#session).catch(() => {})
  }

  #stepOf(answer: OrsAnswer, truncation: Truncation | null, late: boolean): StepResult {
    const output = answer.ok ? answer.output : null
    const total = output?.reward ?? 0
    const end: EpisodeEnd | null = output?.finished
      ? { kind: 'terminated', reason: 'finished' }
      : truncation && { kind: 'truncated', reason: truncation }
    return stepResultOf({
      observation: { text: answer.ok ? textOf(answer.output.blocks) : answer.error, structured: null },
      reward: { total, terms: { reward: total }, shaping: 0 },
      end,
      info: {
        seq: this.#seq,
        potential: null,
        refused: answer.ok ? null : late ? 'time' : refusalOf(answer),
        stateHash: null,
        replayed: false,
      },
    })
  }
}

/** Throws `not-playing` if the server says that the episode is over. */
function refusalOf({ reason, error }: Extract<OrsAnswer, { ok: false }>): Refusal {
  if (reason === 'episode_finished') throw new EnvError('not-playing', `The server has ended the episode: ${error}`)
  return REFUSALS[reason ?? ''] ?? 'rules'
}

/** The answer to a call after the time limit. */
const LATE: OrsAnswer = { ok: false, error: 'The time of this episode has run out. The call was not made.' }

/** Returns the body that opens a session of a task, and the parameters with their defaults. Throws `option-invalid`. */
function creationOf(
  info: EnvironmentInfo,
  { environment = info, params = {} }: Playable,
): { readonly creation: JsonObject; readonly params: JsonObject } {
  if (environment.name !== info.name)
    throw new EnvError(
      'option-invalid',
      `This environment plays ${info.name}, and the task is for ${environment.name}.`,
    )
  const parsed = placeSchema.safeParse(params)
  if (!parsed.success)
    throw new EnvError(
      'option-invalid',
      `A task of ${info.name} is named by split and index, or given as task: ${parsed.error.message}`,
    )
  const { task, index } = parsed.data
  if (task) return { creation: { task_spec: task, env_name: info.name }, params: { task } }
  const split = parsed.data.split ?? firstSplitOf(info)
  return { creation: { split, index, env_name: info.name }, params: { split, index } }
}

function firstSplitOf({ name, paramsSchema }: EnvironmentInfo): string {
  const { split } = paramsSchema.properties as { split: { default?: string } }
  if (split.default !== undefined) return split.default
  throw new EnvError('option-invalid', `${name} lists no tasks. Give a row of your own as the parameter task.`)
}
