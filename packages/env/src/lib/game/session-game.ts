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
  WireError,
} from '@episodic/protocol'
import { randomText } from '@episodic/protocol/extend'
import { EnvError } from '../env-error.ts'
import type { CallOptions, ForkOptions, Playable, ResetOptions } from '../environment/environment.ts'
import { observationOf, parseReply, readReply } from '../environment/reply.ts'
import { stepAnswerSchema } from '../environment/step-answer.ts'
import { type RetryOptions, withRetries } from '../environment/with-retries.ts'
import type { Game, GameStart, SeatStep } from './game.ts'

/** Creates a game of a server with the environment extension. It plays one session at a time, over a shared channel. */
export function createSessionGame(channel: Channel, info: EnvironmentInfo, retry: RetryOptions): Game {
  return new SessionGame(channel, info, retry)
}

/** Entries of the step log that are read at once: the most that the server gives. */
const LOG_PAGE = 1_000

class SessionGame implements Game {
  readonly info: EnvironmentInfo
  readonly legal?: (seat: string, options?: CallOptions) => Promise<LegalActions>
  readonly #channel: Channel
  readonly #retry: RetryOptions
  /** The channel with retries. They are safe because the host plays no step twice. */
  readonly #retrying: Channel
  #session: OpenResult | null = null
  /** The answered steps of each seat. */
  #seqs: Record<string, number> = {}

  constructor(channel: Channel, info: EnvironmentInfo, retry: RetryOptions) {
    this.info = info
    this.#channel = channel
    this.#retry = retry
    this.#retrying = withRetries(channel, retry)
    if (info.legal) this.legal = (seat, options) => this.#legal(seat, options)
  }

  async reset(task: Playable = {}, { seed = task.seed, signal }: ResetOptions = {}): Promise<GameStart> {
    const { environment = this.info, params = {}, limits = {} } = task
    if (environment.name !== this.info.name)
      throw new EnvError('option-invalid', `This game is ${this.info.name}, and the task is for ${environment.name}.`)
    await this.#end(signal)
    const { name, version } = environment
    const asked = { environment: name, version, params, limits, requestKey: randomText() }
    const request = seed === undefined ? asked : { ...asked, seed }
    const reply = await this.#retrying.request(METHODS.open, request, { signal })
    return this.#start(readReply(this.#channel, METHOD_SCHEMAS.open.result, reply, METHODS.open))
  }

  async step(seat: string, action: Action, { signal }: CallOptions = {}): Promise<SeatStep> {
    const { session, epoch } = this.#playing()
    const seq = this.#seqs[seat] ?? 0
    const _meta = { [META.session]: session, [META.epoch]: epoch, [META.seat]: seat, [META.seq]: seq }
    const call = { name: action.tool, arguments: action.arguments, _meta }
    const reply = await this.#retrying.request('tools/call', call, { signal })
    const answer = readReply(this.#channel, stepAnswerSchema, reply, 'tools/call')
    const report = answer._meta[META.step]
    if (report.seq !== seq + 1 || !report.seats)
      throw new EnvError(
        'reply-malformed',
        `The server's report of a step of ${seat} ${report.seats ? `counts ${report.seq} steps, and ${seq + 1} were sent` : 'has no part about seats'}. It may be of another version.`,
      )
    this.#seqs[seat] = report.seq
    return { seat, observation: observationOf(answer), report, replayed: answer._meta[META.replayed] ?? false }
  }

  async turn(
    seat: string,
    { wait = 0, signal }: CallOptions & { readonly wait?: number } = {},
  ): Promise<MethodResult<'turn'>> {
    const reply = await this.#retrying.request(
      METHODS.turn,
      { session: this.#playing().session, seat, wait },
      { signal },
    )
    return readReply(this.#channel, METHOD_SCHEMAS.turn.result, reply, METHODS.turn)
  }

  async leave(seat: string, { signal }: CallOptions = {}): Promise<MethodResult<'leave'>> {
    const reply = await this.#retrying.request(METHODS.leave, { session: this.#playing().session, seat }, { signal })
    return readReply(this.#channel, METHOD_SCHEMAS.leave.result, reply, METHODS.leave)
  }

  async #legal(seat: string, { signal }: CallOptions = {}): Promise<LegalActions> {
    const reply = await this.#retrying.request(METHODS.legal, { session: this.#playing().session, seat }, { signal })
    return readReply(this.#channel, METHOD_SCHEMAS.legal.result, reply, METHODS.legal).tools
  }

  async log({
    after = 0,
    wait = 0,
    signal,
  }: CallOptions & { readonly after?: number; readonly wait?: number } = {}): Promise<LoggedStep[]> {
    const steps: LoggedStep[] = []
    for (;;) {
      const last = steps.at(-1)?.report.revision
      const { session } = this.#playing()
      const asked = { session, after: last ?? after, limit: LOG_PAGE, wait: last === undefined ? wait : 0 }
      const reply = await this.#retrying.request(METHODS.watch, asked, { signal })
      const page = parseReply(METHOD_SCHEMAS.watch.result, reply, METHODS.watch).steps
      steps.push(...page)
      // The server counts the steps that it takes for a seat as the seat's own.
      for (const { seat, report } of page) this.#seqs[seat] = Math.max(this.#seqs[seat] ?? 0, report.seq)
      if (page.length < LOG_PAGE) return steps
    }
  }

  async fork({ at, count = 1, seed, signal }: ForkOptions = {}): Promise<(Game & { readonly start: GameStart })[]> {
    const asked: JsonObject = { session: this.#playing().session, count, requestKey: randomText() }
    const request = { ...asked, ...(at !== undefined && { at }), ...(seed !== undefined && { seed }) }
    const reply = await this.#retrying.request(METHODS.fork, request, { signal })
    return parseReply(METHOD_SCHEMAS.fork.result, reply, METHODS.fork).forks.map((opened) => {
      const fork = new SessionGame(this.#channel, this.info, this.#retry)
      return Object.assign(fork, { start: fork.#start(opened) })
    })
  }

  close(): Promise<void> {
    return this.#end(undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Makes an opened session the one that is played. */
  #start(opened: OpenResult): GameStart {
    const { id, params, seed, limits, turn = [] } = opened
    this.#session = opened
    this.#seqs = Object.fromEntries(Object.entries(opened.seats).map(([seat, { seq }]) => [seat, seq]))
    const seats = Object.entries(opened.seats).map(
      ([seat, { observation, capability, potential = null }]) =>
        [seat, { observation, capability, potential }] as const,
    )
    return { turn, seats: Object.fromEntries(seats), info: { id, params, seed, limits } }
  }

  #playing(): OpenResult {
    if (this.#session) return this.#session
    throw new EnvError('not-playing', 'No episode is being played. Call reset first.')
  }

  async #end(signal: AbortSignal | undefined): Promise<void> {
    const session = this.#session
    if (!session) return
    this.#session = null
    try {
      await this.#retrying.request(METHODS.close, { session: session.session }, { signal })
    } catch (error) {
      // The session is closed or expired already, or another client owns it.
      if (!WireError.is(error, 'session-not-found') && !WireError.is(error, 'fenced')) throw error
    }
  }
}
