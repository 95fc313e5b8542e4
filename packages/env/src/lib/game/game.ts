import {
  type Action,
  DEFAULT_SEAT,
  type EnvironmentInfo,
  type LegalActions,
  type LoggedStep,
  type MethodResult,
  type Observation,
  type OpenResult,
  type SessionSnapshot,
  type StepReport,
} from '@episodic/protocol'
import type { CallOptions, EventInput, ForkOptions, Playable, ResetOptions } from '../session/call-options.ts'

export interface GameStart {
  readonly turn: readonly string[]
  readonly seats: {
    readonly [seat: string]: {
      readonly observation: Observation
      /** For the session URL of the agent that plays the seat; a secret. */
      readonly capability: string
      /** Φ at the start for this seat; `null` if the environment defines none. */
      readonly potential: number | null
      /** Of a match that goes on from a step: texts for the seat since its own last one. Left out if there are none. */
      readonly messages?: readonly string[] | undefined
    }
  }
  readonly info: Pick<OpenResult, 'id' | 'params' | 'seed' | 'limits'>
}

export interface SeatStep {
  readonly seat: string
  readonly observation: Observation
  /** Rewards, end and what the step meant to the other seats, as the server reports them. */
  readonly report: StepReport
  /** Whether the answer is a stored one: the step had been applied before and its first answer was lost. */
  readonly replayed: boolean
}

/**
 * An environment, played by one trainer, who opens the episode and steps any seat. The only seat of an environment is
 * `agent`. Calls for different seats may be made at once. Disposing closes.
 */
export interface Game extends AsyncDisposable {
  /** What the server lists: seats and their tools, names of reward terms, limits. */
  readonly info: EnvironmentInfo
  /** Starts an episode, and ends the previous one. Rejects with `WireError` if the server rejects the request. */
  reset(task?: Playable, options?: ResetOptions): Promise<GameStart>
  /** Starts an episode from a snapshot, and ends the previous one, as `restore` of an environment does. */
  restore(snapshot: SessionSnapshot, options?: CallOptions): Promise<GameStart>
  /**
   * Plays one action of a seat. Rejects with `not-playing` before `reset`, with a `WireError` `not-your-turn` if the
   * seat may not act, which counts nothing, and with `reply-malformed` if the answer is not a valid one.
   */
  step(seat: string, action: Action, options?: CallOptions): Promise<SeatStep>
  /**
   * Waits until a seat may act or its episode is over, for up to `wait` seconds (at most 60, default 0), and resolves
   * with what the seat knows then. For a seat that somebody else plays.
   */
  turn(seat: string, options?: CallOptions & { readonly wait?: number }): Promise<MethodResult<'turn'>>
  /** Resolves with the legal actions of a seat; none out of turn. Undefined if the environment defines none. */
  legal?(seat: string, options?: CallOptions): Promise<LegalActions>
  /**
   * Resolves with the steps after a commit, in their order: also those that others played, and those that the server
   * took for seats that did not act. `after` is a revision; default 0, the start. If there is none, it waits for the
   * first for up to `wait` seconds (at most 60, default 0).
   */
  log(options?: CallOptions & { readonly after?: number; readonly wait?: number }): Promise<readonly LoggedStep[]>
  /**
   * Says that the player of a seat has left, when it is the turn of the seat: the rules decide what it loses. Rejects
   * with a `WireError`: `invalid-params` if they do not say, and `not-your-turn`.
   */
  leave(seat: string, options?: CallOptions): Promise<MethodResult<'leave'>>
  /** Publishes an external event, exactly once by its id, as `publish` of an environment does. */
  publish(event: EventInput, options?: CallOptions): Promise<MethodResult<'publish'>>
  /**
   * Resolves with games that continue from this episode, as `fork` of an environment. Rejects with `not-forkable` if
   * `info.forkable` is `false`.
   */
  fork(options?: ForkOptions): Promise<(Game & { readonly start: GameStart })[]>
  /** Ends the episode on the server. Safe to call twice. */
  close(): Promise<void>
}

/** Returns the seats of an environment with their tools. The only seat of an environment has all tools. */
export function seatsOf({ seats, tools }: EnvironmentInfo): NonNullable<EnvironmentInfo['seats']> {
  return seats ?? [{ name: DEFAULT_SEAT, tools: tools.map(({ name }) => name) }]
}
