import {
  type Action,
  type Channel,
  type EnvironmentInfo,
  type JsonObject,
  type LegalActions,
  type LoggedStep,
  META,
  METHOD_SCHEMAS,
  METHODS,
  type MethodResult,
  type OpenResult,
  type SessionSnapshot,
  type StepReport,
  stepReportSchema,
  WireError,
} from '@episodic/protocol'
import { isTyped, monotonic, randomText } from '@episodic/protocol/internal'
import { z } from 'zod'
import { EnvError, notForkable, optionInvalid, takesNoEvents } from '../env-error.ts'
import type {
  CallOptions,
  EventInput,
  ForkOptions,
  Playable,
  ResetOptions,
  SnapshotOptions,
} from '../session/call-options.ts'
import {
  assertPotential,
  assertReport,
  malformed,
  observationOf,
  parseReply,
  toolAnswerSchema,
} from '../session/reply.ts'
import type { StepTiming } from '../session/step-timing.ts'
import { type RetryOptions, withRetries } from '../session/with-retries.ts'
import type { Game, GameStart, SeatStep } from './game.ts'

const stepAnswerSchema = toolAnswerSchema.extend({
  _meta: z.looseObject({
    [META.step]: stepReportSchema,
    [META.tools]: z.array(z.string()).optional(),
    [META.replayed]: z.boolean().optional(),
    [META.took]: z.number().optional(),
  }),
})

/** Entries of the step log that are read at once: the most that the server gives. */
const LOG_PAGE = 1_000

/**
 * Error codes after which the episode is void: its session is gone, has another owner, was set back to an earlier step,
 * or plays a recording that has no answer. A session opened in its place would be another episode under the same name.
 */
const VOIDING = ['session-not-found', 'fenced', 'state-lost', 'not-recorded'] as const

/** What an episode calls often: answers to these are not parsed again where they are typed already. */
const OFTEN: ReadonlySet<string> = new Set(['open', 'turn', 'leave', 'legal'])

/**
 * A game of a server with the environment extension. It plays one session at a time, over a shared channel, with one
 * seat or several: an environment is a view of a game of one seat.
 */
export class SessionGame implements Game {
  readonly info: EnvironmentInfo
  readonly legal?: (seat: string, options?: CallOptions) => Promise<LegalActions>
  readonly #channel: Channel
  readonly #retry: RetryOptions
  readonly #timing: StepTiming | undefined
  readonly #typed: boolean
  /** The channel with retries. They are safe because the host plays no step twice. */
  readonly #retrying: Channel
  /** Whether the last call got an answer: a result or an error. */
  #answered = true
  #session: OpenResult | null = null
  #seqs: Record<string, number> = {}
  /** Why no step may follow; `null` while the session is played. */
  #over: string | null = null

  constructor(channel: Channel, info: EnvironmentInfo, retry: RetryOptions, timing?: StepTiming) {
    this.info = info
    this.#channel = channel
    this.#retry = retry
    this.#timing = timing
    this.#typed = isTyped(channel)
    this.#retrying = withRetries(channel, retry)
    if (info.legal) this.legal = (seat, options) => this.#legal(seat, options)
  }

  async reset(task: Playable = {}, { seed = task.seed, signal }: ResetOptions = {}): Promise<GameStart> {
    const { environment = this.info, params = {}, limits = {} } = task
    this.#assertPlays(environment.name, 'task')
    await this.#end(signal)
    const { name, version } = environment
    const asked = { environment: name, version, params, limits, requestKey: randomText() }
    const request = seed === undefined ? asked : { ...asked, seed }
    return this.#start(await this.#call('open', request, signal))
  }

  /** Returns the capability of a seat; `null` while no session is open. */
  capabilityOf(seat: string): string | null {
    return this.#session?.seats[seat]?.capability ?? null
  }

  async snapshot({ at, signal }: SnapshotOptions = {}): Promise<SessionSnapshot> {
    const request = { session: this.#forkable(), ...(at !== undefined && { at }) }
    return (await this.#call('snapshot', request, signal)).snapshot
  }

  async restore(snapshot: SessionSnapshot, { signal }: CallOptions = {}): Promise<GameStart> {
    if (!this.info.forkable) throw notForkable(this.info)
    this.#assertPlays(snapshot.environment.name, 'snapshot')
    await this.#end(signal)
    const request = { snapshot: snapshot as unknown as JsonObject, requestKey: randomText() }
    return this.#start(await this.#call('restore', request, signal))
  }

  async fork({ at, count = 1, seed, signal }: ForkOptions = {}): Promise<(SessionGame & { start: GameStart })[]> {
    const asked = { session: this.#forkable(), count, requestKey: randomText() }
    const request = { ...asked, ...(at !== undefined && { at }), ...(seed !== undefined && { seed }) }
    const { forks } = await this.#call('fork', request, signal)
    if (forks.length !== count) throw malformed(`${count} forks were asked for, and ${forks.length} came.`)
    return forks.map((opened) => {
      const fork = new SessionGame(this.#channel, this.info, this.#retry, this.#timing)
      return Object.assign(fork, { start: fork.#start(opened) })
    })
  }

  #start(opened: OpenResult): GameStart {
    const { id, params, seed, limits, seats, turn = Object.keys(seats) } = opened
    if (Object.keys(seats).length === 0) throw malformed('The server answered with a session that has no seat.')
    // With one seat, its potential is that of the session.
    const potentialOf = (seat: OpenResult['seats'][string]) =>
      this.info.seats ? (seat.potential ?? null) : opened.potential
    for (const seat of Object.values(seats)) assertPotential(this.info, potentialOf(seat))
    this.#session = opened
    this.#seqs = Object.fromEntries(Object.entries(seats).map(([name, { seq }]) => [name, seq]))
    this.#over = null
    const views = Object.entries(seats).map(([name, seat]) => {
      const { observation, capability } = seat
      return [name, { observation, capability, potential: potentialOf(seat) }] as const
    })
    return { turn, seats: Object.fromEntries(views), info: { id, params, seed, limits } }
  }

  async step(seat: string, action: Action, { signal }: CallOptions = {}): Promise<SeatStep> {
    const { session, epoch } = this.#playing()
    if (typeof action?.tool !== 'string')
      throw optionInvalid('An action is { tool, arguments }, and this one names no tool.')
    const seq = this.#seqs[seat] ?? 0
    const named: JsonObject = this.info.seats
      ? { [META.session]: session, [META.epoch]: epoch, [META.seat]: seat, [META.seq]: seq }
      : { [META.session]: session, [META.epoch]: epoch, [META.seq]: seq }
    const timing = this.#timing?.isNext() ? this.#timing : undefined
    const _meta = timing ? { ...named, [META.timed]: true } : named
    const sent = timing ? monotonic() : 0
    const call = { name: action.tool, arguments: action.arguments, _meta }
    this.#answered = false
    let reply: unknown
    try {
      reply = await this.#retrying.request('tools/call', call, { signal })
      this.#answered = true
    } catch (error) {
      throw this.#failed(error)
    }
    const answer = this.#read(stepAnswerSchema, reply, 'tools/call')
    const server = answer._meta[META.took]
    if (timing && server !== undefined) timing.onStepTimed({ roundTrip: monotonic() - sent, server })
    const { [META.step]: report, [META.tools]: tools } = answer._meta
    this.#count(seat, report)
    const observation = observationOf(answer)
    return {
      seat,
      observation: tools ? { ...observation, tools } : observation,
      report,
      replayed: answer._meta[META.replayed] ?? false,
    }
  }

  /** Takes in a step that another client has played. Throws `reply-malformed` if it is not the next one of its seat. */
  take({ seat, observation, report }: LoggedStep): SeatStep {
    this.#count(seat, report)
    return { seat, observation, report, replayed: false }
  }

  #count(seat: string, report: StepReport): void {
    const { seq } = report
    const next = (this.#seqs[seat] ?? 0) + 1
    if (seq !== next) throw malformed(`The server counts ${seq} steps, and ${next} were sent.`)
    assertReport(this.info, report)
    this.#seqs[seat] = seq
  }

  async turn(
    seat: string,
    { wait = 0, signal }: CallOptions & { readonly wait?: number } = {},
  ): Promise<MethodResult<'turn'>> {
    return this.#call('turn', { session: this.#opened('play').session, seat, wait }, signal)
  }

  async leave(seat: string, { signal }: CallOptions = {}): Promise<MethodResult<'leave'>> {
    return this.#call('leave', { session: this.#opened('leave').session, seat }, signal)
  }

  async #legal(seat: string, { signal }: CallOptions = {}): Promise<LegalActions> {
    const { session } = this.#opened('play')
    return (await this.#call('legal', this.info.seats ? { session, seat } : { session }, signal)).tools
  }

  async log({
    after = 0,
    wait = 0,
    signal,
  }: CallOptions & { readonly after?: number; readonly wait?: number } = {}): Promise<LoggedStep[]> {
    const steps: LoggedStep[] = []
    for (;;) {
      const last = steps.at(-1)?.report.revision
      const range = { after: last ?? after, limit: LOG_PAGE, wait: last === undefined ? wait : 0 }
      const page = (await this.watch(range, { signal })).steps
      for (const { seat, report } of page) {
        assertReport(this.info, report)
        // The server counts the steps that it takes for a seat as the seat's own.
        this.#seqs[seat] = Math.max(this.#seqs[seat] ?? 0, report.seq)
      }
      steps.push(...page)
      if (page.length < LOG_PAGE) return steps
    }
  }

  /** Resolves with a page of the step log, and what has happened since its last step; see `environment/watch`. */
  async watch(
    range: { readonly after: number; readonly limit: number; readonly wait: number },
    { signal }: CallOptions = {},
  ): Promise<MethodResult<'watch'>> {
    return this.#call('watch', { session: this.#opened('watch').session, ...range }, signal)
  }

  async publish(
    { type, data = {}, id = randomText() }: EventInput,
    { signal }: CallOptions = {},
  ): Promise<MethodResult<'publish'>> {
    if (!this.info.events) throw takesNoEvents(this.info)
    const event = { session: this.#opened('publish to').session, id, type, data }
    // It may be called beside another call, whose answer decides how the session is closed.
    const reply = await this.#retrying.request(METHODS.publish, event, { signal })
    return parseReply(METHOD_SCHEMAS.publish.result, reply, METHODS.publish)
  }

  /**
   * Closes the session of players that leave. Resolves with its end, its success, and the last step, if the server took
   * one. Rejects with `not-playing` if none is open.
   */
  async finish({ signal }: CallOptions = {}): Promise<MethodResult<'close'>> {
    const reply = await this.#ask(METHODS.close, { session: this.#opened('finish').session, left: true }, signal)
    this.#closed()
    return this.#read(METHOD_SCHEMAS.close.result, reply, METHODS.close)
  }

  close(): Promise<void> {
    return this.#end(undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #assertPlays(name: string, what: string): void {
    if (name === this.info.name) return
    throw optionInvalid(`This environment plays ${this.info.name}, and the ${what} is for ${name}.`)
  }

  #playing(): OpenResult {
    if (this.#over) throw new EnvError('not-playing', `${this.#over}, so no step follows. Call reset to play again.`)
    return this.#opened('play')
  }

  #opened(what: string): OpenResult {
    if (this.#session) return this.#session
    throw new EnvError('not-playing', `There is no episode to ${what}. Call reset first.`)
  }

  #forkable(): string {
    if (!this.info.forkable) throw notForkable(this.info)
    return this.#opened('go on from, and none can be forked after close').session
  }

  #closed(): void {
    this.#session = null
    this.#over ??= 'The episode is closed'
  }

  async #end(signal: AbortSignal | undefined): Promise<void> {
    const session = this.#session
    if (!session) return
    this.#closed()
    const request = { session: session.session }
    try {
      // No retries for a server that did not answer the last call: the session expires there.
      await (this.#answered ? this.#retrying : this.#channel).request(METHODS.close, request, { signal })
    } catch (error) {
      // The session is closed or expired already, or is another client's.
      if (!isVoiding(error)) throw error
    }
  }

  async #call<Name extends Exclude<keyof typeof METHODS, 'list'>>(
    name: Name,
    params: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<MethodResult<Name>> {
    const reply = await this.#ask(METHODS[name], params, signal)
    const schema = METHOD_SCHEMAS[name].result as z.ZodType
    const read = OFTEN.has(name) ? this.#read(schema, reply, METHODS[name]) : parseReply(schema, reply, METHODS[name])
    return read as MethodResult<Name>
  }

  /** Reads a reply: as it is if it is typed already, and otherwise parsed. */
  #read<S extends z.ZodType>(schema: S, reply: unknown, method: string): z.output<S> {
    return this.#typed ? (reply as z.output<S>) : parseReply(schema, reply, method)
  }

  /** Sends a request. An error with a code in `VOIDING` also ends the episode. */
  async #ask(method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<unknown> {
    this.#answered = false
    try {
      const reply = await this.#retrying.request(method, params, { signal })
      this.#answered = true
      return reply
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #failed(error: unknown): unknown {
    this.#answered = WireError.is(error)
    if (this.#session && isVoiding(error)) {
      this.#over = `The episode is void (${error.code})`
      // Another client owns the session now, so `close` must not end it.
      if (error.code === 'fenced') this.#session = null
    }
    return error
  }
}

function isVoiding(error: unknown): error is WireError {
  return VOIDING.some((code) => WireError.is(error, code))
}
