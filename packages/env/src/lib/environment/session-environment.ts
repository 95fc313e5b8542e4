import {
  type Action,
  type Channel,
  type EnvironmentInfo,
  type JsonObject,
  type LegalActions,
  META,
  METHOD_SCHEMAS,
  METHODS,
  type MethodResult,
  type Observation,
  type OpenResult,
  type SessionSnapshot,
  type StepReport,
  WireError,
} from '@episodic/protocol'
import { monotonic, randomText } from '@episodic/protocol/extend'
import { EnvError, notForkable, takesNoEvents } from '../env-error.ts'
import {
  type CallOptions,
  type EventInput,
  type Fork,
  type ForkOptions,
  type Playable,
  type ResetOptions,
  type ResetResult,
  type SnapshotOptions,
  type StepResult,
  stepResultOf,
} from './environment.ts'
import { observationOf, parseReply, readReply } from './reply.ts'
import { stepAnswerSchema } from './step-answer.ts'
import type { StepTiming } from './step-timing.ts'
import type { WatchedEnvironment, WatchOptions } from './watched-environment.ts'
import { type RetryOptions, withRetries } from './with-retries.ts'

/**
 * Creates an environment of a server with the environment extension. It plays one session at a time, over a shared
 * channel.
 */
export function createSessionEnvironment(
  channel: Channel,
  info: EnvironmentInfo,
  retry: RetryOptions,
  timing?: StepTiming,
): WatchedEnvironment {
  return new SessionEnvironment(channel, info, retry, timing)
}

/**
 * Error codes after which the episode is void: its session is gone, has another owner, or was set back to an earlier
 * step. A session opened in its place would be another episode under the same name.
 */
const VOIDING = ['session-not-found', 'fenced', 'state-lost'] as const

class SessionEnvironment implements WatchedEnvironment {
  readonly info: EnvironmentInfo
  readonly legal?: (options?: CallOptions) => Promise<LegalActions>
  readonly #channel: Channel
  readonly #retry: RetryOptions
  readonly #timing: StepTiming | undefined
  /** The channel with retries. They are safe because the host plays no step twice. */
  readonly #retrying: Channel
  /** Whether the last call got an answer: a result or an error. */
  #answered = true
  #session: OpenResult | null = null
  #seq = 0
  /** The last revision that `next` received from `watch`. */
  #watched = 0
  /** The result of the action that `next` returned, until `step` returns it. */
  #taken: StepResult | null = null
  /** Why no step may follow; `null` while steps are possible. */
  #over: string | null = null

  constructor(channel: Channel, info: EnvironmentInfo, retry: RetryOptions, timing: StepTiming | undefined) {
    this.#channel = channel
    this.#retry = retry
    this.#timing = timing
    this.#retrying = withRetries(channel, retry)
    this.info = info
    if (info.legal) this.legal = (options) => this.#legal(options)
  }

  async reset(task: Playable = {}, { seed = task.seed, signal }: ResetOptions = {}): Promise<ResetResult> {
    const { environment = this.info, params = {}, limits = {} } = task
    this.#assertPlays(environment.name, 'task')
    await this.#end(signal)
    const { name, version } = environment
    const asked = { environment: name, version, params, limits, requestKey: randomText() }
    const request = seed === undefined ? asked : { ...asked, seed }
    const reply = await this.#ask(METHODS.open, request, signal)
    return this.#start(readReply(this.#channel, METHOD_SCHEMAS.open.result, reply, METHODS.open))
  }

  async snapshot({ at, signal }: SnapshotOptions = {}): Promise<SessionSnapshot> {
    const request = { session: this.#forkable(), ...(at !== undefined && { at }) }
    const reply = await this.#ask(METHODS.snapshot, request, signal).catch((error) => this.#refused(error))
    return parseReply(METHOD_SCHEMAS.snapshot.result, reply, METHODS.snapshot).snapshot
  }

  async restore(snapshot: SessionSnapshot, { signal }: CallOptions = {}): Promise<ResetResult> {
    if (!this.info.forkable) throw notForkable(this.info)
    this.#assertPlays(snapshot.environment.name, 'snapshot')
    await this.#end(signal)
    const request = { snapshot: snapshot as unknown as JsonObject, requestKey: randomText() }
    return this.#start(
      parseReply(METHOD_SCHEMAS.open.result, await this.#ask(METHODS.restore, request, signal), METHODS.restore),
    )
  }

  async fork({ at, count = 1, seed, signal }: ForkOptions = {}): Promise<Fork[]> {
    const asked = { session: this.#forkable(), count, requestKey: randomText() }
    const request = { ...asked, ...(at !== undefined && { at }), ...(seed !== undefined && { seed }) }
    const reply = await this.#ask(METHODS.fork, request, signal).catch((error) => this.#refused(error))
    const { forks } = parseReply(METHOD_SCHEMAS.fork.result, reply, METHODS.fork)
    if (forks.length !== count) throw malformed(`${count} forks were asked for, and ${forks.length} came.`)
    return forks.map((opened) => {
      const fork = new SessionEnvironment(this.#channel, this.info, this.#retry, this.#timing)
      return Object.assign(fork, { start: fork.#start(opened) })
    })
  }

  /** Makes an opened session the one that is played. */
  #start(opened: OpenResult): ResetResult {
    const [seat] = Object.values(opened.seats)
    if (!seat) throw malformed(`The server answered with a session that has no seat.`)
    this.#checkPotential(opened.potential)
    this.#session = opened
    this.#seq = seat.seq
    this.#watched = 0
    this.#taken = null
    this.#over = null
    const { id, potential } = opened
    return {
      observation: seat.observation,
      info: {
        id,
        capability: seat.capability,
        params: opened.params,
        seed: opened.seed,
        limits: opened.limits,
        potential,
      },
    }
  }

  async step(action: Action, { signal }: CallOptions = {}): Promise<StepResult> {
    const taken = this.#taken
    this.#taken = null
    if (taken) return taken
    if (this.#over) throw new EnvError('not-playing', `${this.#over}, so no step follows. Call reset to play again.`)
    if (!this.#session) throw new EnvError('not-playing', 'No episode is being played. Call reset first.')
    if (typeof action?.tool !== 'string')
      throw new EnvError('option-invalid', 'An action is { tool, arguments }, and this one names no tool.')
    const { session, epoch } = this.#session
    const named = { [META.session]: session, [META.epoch]: epoch, [META.seq]: this.#seq }
    const timing = this.#timing?.isNext() ? this.#timing : undefined
    const _meta = timing ? { ...named, [META.timed]: true } : named
    const call = { name: action.tool, arguments: action.arguments, _meta }
    const sent = timing ? monotonic() : 0
    let reply: unknown
    try {
      reply = await this.#ask('tools/call', call, signal)
    } catch (error) {
      this.#refused(error)
    }
    const answer = readReply(this.#channel, stepAnswerSchema, reply, 'tools/call')
    const server = answer._meta[META.took]
    if (timing && server !== undefined) timing.onStepTimed({ roundTrip: monotonic() - sent, server })
    return this.#count(observationOf(answer), answer._meta[META.step], answer._meta[META.replayed] ?? false)
  }

  async #legal({ signal }: CallOptions = {}): Promise<LegalActions> {
    if (!this.#session) throw new EnvError('not-playing', 'No episode is being played. Call reset first.')
    const request = { session: this.#session.session }
    const reply = await this.#ask(METHODS.legal, request, signal).catch((error) => this.#refused(error))
    return readReply(this.#channel, METHOD_SCHEMAS.legal.result, reply, METHODS.legal).tools
  }

  get capability(): string | null {
    return this.#session && (Object.values(this.#session.seats)[0]?.capability ?? null)
  }

  async next({ wait, signal }: WatchOptions): Promise<Action | null> {
    if (!this.#session) throw new EnvError('not-playing', 'There is no episode to watch. Call reset first.')
    const request = { session: this.#session.session, after: this.#watched, limit: 1, wait }
    const reply = await this.#ask(METHODS.watch, request, signal).catch((error) => this.#refused(error))
    const { steps, events } = parseReply(METHOD_SCHEMAS.watch.result, reply, METHODS.watch)
    const [logged] = steps
    if (!logged) {
      // The next step reports these events too.
      this.#watched = events?.at(-1)?.revision ?? this.#watched
      signal?.throwIfAborted()
      return null
    }
    const { action, observation, report } = logged
    this.#watched = report.revision
    this.#taken = this.#count(observation, report, false)
    return action
  }

  /** Checks and counts an answered step. Throws `reply-malformed`. */
  #count(observation: Observation, report: StepReport, replayed: boolean): StepResult {
    if (report.seq !== this.#seq + 1)
      throw malformed(`The server counts ${report.seq} steps, and ${this.#seq + 1} were sent.`)
    this.#checkPotential(report.potential)
    this.#checkSuccess(report)
    const total = this.#sum(report)
    this.#seq = report.seq
    this.#over = report.end && 'The episode is over'
    return stepResultOf({
      observation,
      reward: { total, terms: report.terms, shaping: 0 },
      end: report.end,
      info: {
        seq: report.seq,
        potential: report.potential,
        refused: report.refused,
        ...(report.success !== undefined && { success: report.success }),
        stateHash: report.stateHash,
        replayed,
        ...(report.events && { events: report.events }),
        ...(report.prepared !== undefined && { prepared: report.prepared }),
      },
    })
  }

  async publish(
    { type, data = {}, id = randomText() }: EventInput,
    { signal }: CallOptions = {},
  ): Promise<MethodResult<'publish'>> {
    if (!this.info.events) throw takesNoEvents(this.info)
    if (!this.#session) throw new EnvError('not-playing', 'There is no episode to publish to. Call reset first.')
    const event = { session: this.#session.session, id, type, data }
    return parseReply(
      METHOD_SCHEMAS.publish.result,
      await this.#retrying.request(METHODS.publish, event, { signal }),
      METHODS.publish,
    )
  }

  async finish({ signal }: CallOptions = {}): Promise<MethodResult<'close'>> {
    if (!this.#session) throw new EnvError('not-playing', 'There is no episode to finish. Call reset first.')
    const request = { session: this.#session.session }
    const reply = await this.#ask(METHODS.close, request, signal).catch((error) => this.#refused(error))
    this.#session = null
    this.#over ??= 'The episode is closed'
    return readReply(this.#channel, METHOD_SCHEMAS.close.result, reply, METHODS.close)
  }

  close(): Promise<void> {
    return this.#end(undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Returns the session to fork. Its episode may have ended. */
  #forkable(): string {
    if (!this.info.forkable) throw notForkable(this.info)
    if (this.#session) return this.#session.session
    throw new EnvError('not-playing', 'There is no episode to go on from. Call reset first, and fork before close.')
  }

  #assertPlays(name: string, what: string): void {
    if (name === this.info.name) return
    throw new EnvError('option-invalid', `This environment plays ${this.info.name}, and the ${what} is for ${name}.`)
  }

  async #end(signal: AbortSignal | undefined): Promise<void> {
    const session = this.#session
    if (!session) return
    this.#session = null
    this.#over ??= 'The episode is closed'
    const request = { session: session.session }
    try {
      // No retries for a server that did not answer the last call: the session expires there.
      if (this.#answered) await this.#ask(METHODS.close, request, signal)
      else await this.#channel.request(METHODS.close, request, { signal })
    } catch (error) {
      // The session is closed or expired already.
      if (!isVoiding(error)) throw error
    }
  }

  async #ask(method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<unknown> {
    this.#answered = false
    try {
      const reply = await this.#retrying.request(method, params, { signal })
      this.#answered = true
      return reply
    } catch (error) {
      this.#answered = WireError.is(error)
      throw error
    }
  }

  /** Rethrows an error. A code in `VOIDING` also ends the episode. */
  #refused(error: unknown): never {
    if (isVoiding(error)) {
      this.#over = `The episode is void (${error.code})`
      // Another client owns the session now, so `close` must not end it.
      if (error.code === 'fenced') this.#session = null
    }
    throw error
  }

  /** Returns the sum of the terms. Throws for a missing or unannounced term: a missing one must not count as a zero. */
  #sum({ terms }: StepReport): number {
    const names = this.info.terms
    let total = 0
    for (const name of names) {
      const value = terms[name]
      if (value === undefined) throw malformed(`The server announced a reward term "${name}" and sent none.`)
      total += value
    }
    for (const name in terms)
      if (!names.includes(name)) throw malformed(`The server sent a reward term "${name}" that it had not announced.`)
    return total
  }

  #checkSuccess({ end, success }: StepReport): void {
    const wanted = end !== null && this.info.success === true
    if ((success !== undefined) !== wanted)
      throw malformed(
        wanted
          ? 'The server announced that it judges success, and sent none with the end.'
          : 'The server sent a success that it had not announced.',
      )
  }

  #checkPotential(potential: number | null): void {
    if ((potential !== null) !== this.info.potential)
      throw malformed(
        `The server ${this.info.potential ? 'announced a potential and sent none' : 'sent a potential that it had not announced'}.`,
      )
  }
}

function isVoiding(error: unknown): error is WireError {
  return VOIDING.some((code) => WireError.is(error, code))
}

function malformed(message: string): EnvError {
  return new EnvError('reply-malformed', `${message} It may be of another version.`)
}
