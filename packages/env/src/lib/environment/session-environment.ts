import type { Action, LegalActions, MethodResult, SessionSnapshot } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'
import type { GameStart, SeatStep } from '../game/game.ts'
import type { SessionGame } from '../game/session-game.ts'
import type {
  CallOptions,
  EventInput,
  ForkOptions,
  Playable,
  ResetOptions,
  SnapshotOptions,
} from '../session/call-options.ts'
import { reportedStep, type StepResult } from '../session/step-result.ts'
import type { Environment, Fork, ResetResult } from './environment.ts'

/**
 * An environment of a server with the environment extension: the game of its only seat. Another client may play it, at
 * the session URL: `next` resolves with the action of that client, and `step` with that action resolves with its
 * result, so that wrappers apply to watched steps as to any other.
 */
export class SessionEnvironment implements Environment {
  readonly info: SessionGame['info']
  readonly legal?: (options?: CallOptions) => Promise<LegalActions>
  readonly #game: SessionGame
  #seat = ''
  #ended = false
  /** The last revision that `next` received from `watch`. */
  #watched = 0
  /** The result of the action that `next` returned, until `step` returns it. */
  #taken: StepResult | null = null

  constructor(game: SessionGame) {
    this.info = game.info
    this.#game = game
    if (game.legal) this.legal = (options) => game.legal?.(this.#seat, options) as Promise<LegalActions>
  }

  async reset(task?: Playable, options?: ResetOptions): Promise<ResetResult> {
    return this.#start(await this.#game.reset(task, options))
  }

  async restore(snapshot: SessionSnapshot, options?: CallOptions): Promise<ResetResult> {
    return this.#start(await this.#game.restore(snapshot, options))
  }

  async fork(options?: ForkOptions): Promise<Fork[]> {
    const forks = await this.#game.fork(options)
    return forks.map((game) => {
      const fork = new SessionEnvironment(game)
      return Object.assign(fork, { start: fork.#start(game.start) })
    })
  }

  #start({ seats, info }: GameStart): ResetResult {
    const [[seat, { observation, capability, potential }]] = Object.entries(seats) as [
      [string, GameStart['seats'][string]],
    ]
    this.#seat = seat
    this.#ended = false
    this.#watched = 0
    this.#taken = null
    const { id, params, seed, limits } = info
    return { observation, info: { id, capability, params, seed, limits, potential } }
  }

  async step(action: Action, options?: CallOptions): Promise<StepResult> {
    const taken = this.#taken
    this.#taken = null
    if (taken) return taken
    if (this.#ended)
      throw new EnvError('not-playing', 'The episode is over, so no step follows. Call reset to play again.')
    return this.#result(await this.#game.step(this.#seat, action, options))
  }

  #result(step: SeatStep): StepResult {
    const { terms, end } = step.report
    this.#ended = end !== null
    let total = 0
    for (const term of this.info.terms) total += terms[term] as number
    return reportedStep(step, terms, total)
  }

  /** The capability of the session, a secret; `null` before `reset` and after `close`. */
  get capability(): string | null {
    return this.#game.capabilityOf(this.#seat)
  }

  /**
   * Resolves with the next action of another client, each once and in order, or with `null` if there is none within
   * `wait` seconds, at most 60. Rejects with `not-playing` before `reset`, and after an abort with the signal's reason.
   */
  async next({ wait, signal }: CallOptions & { readonly wait: number }): Promise<Action | null> {
    const { steps, events } = await this.#game.watch({ after: this.#watched, limit: 1, wait }, { signal })
    const [logged] = steps
    if (!logged) {
      // The next step reports these events too.
      this.#watched = events?.at(-1)?.revision ?? this.#watched
      signal?.throwIfAborted()
      return null
    }
    this.#watched = logged.report.revision
    this.#taken = this.#result(this.#game.take(logged))
    return logged.action
  }

  publish(event: EventInput, options?: CallOptions): Promise<MethodResult<'publish'>> {
    return this.#game.publish(event, options)
  }

  snapshot(options?: SnapshotOptions): Promise<SessionSnapshot> {
    return this.#game.snapshot(options)
  }

  /**
   * Closes the session of a client that has left. Resolves with its end and success, and the last step, if the server
   * took one; then call `step` with its action. Rejects with `not-playing` before `reset` and after `close`.
   */
  async finish(options?: CallOptions): Promise<MethodResult<'close'>> {
    const closed = await this.#game.finish(options)
    if (closed.step) this.#taken = this.#result(this.#game.take(closed.step))
    return closed
  }

  async leave(options?: CallOptions): ReturnType<NonNullable<Environment['leave']>> {
    // A watched client that has left was finished already.
    if (this.capability === null) return null
    const { step, verdicts } = await this.finish(options)
    return { action: step?.action ?? null, verdicts }
  }

  close(): Promise<void> {
    return this.#game.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
