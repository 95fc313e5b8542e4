import type {
  Action,
  EnvironmentInfo,
  JsonObject,
  LegalActions,
  Limits,
  LimitsRequest,
  MethodResult,
  Observation,
  OutsideEvent,
  SessionSnapshot,
  Step,
} from '@episodic/protocol'

/** What `reset` needs of a task. A whole `Task` is one; `{}` plays the world's defaults with a seed that it draws. */
export interface Playable {
  readonly environment?: { readonly name: string; readonly version: string } | undefined
  readonly params?: JsonObject | undefined
  readonly seed?: string | undefined
  readonly limits?: LimitsRequest | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface ResetOptions extends CallOptions {
  /** Played instead of the task's own seed. */
  readonly seed?: string | undefined
}

export interface SnapshotOptions extends CallOptions {
  /** How many steps were answered at the moment that is asked for, 0 for the start; left out, the present. */
  readonly at?: number | undefined
}

export interface ForkOptions extends SnapshotOptions {
  /** From 1, which is the default, to 1,000. */
  readonly count?: number | undefined
  /**
   * Gives each fork fresh chance: fork i (from 0) plays on with the seed `seedFor(seed, 'fork', i)`. Left out, all have
   * their parent's, and the same actions get the same answers.
   */
  readonly seed?: string | undefined
}

/** An outside event to publish. */
export interface EventInput extends Pick<OutsideEvent, 'type'> {
  /** Default: `{}`. */
  readonly data?: OutsideEvent['data'] | undefined
  /** Publishing again under the same id changes nothing. Default: an id of its own. */
  readonly id?: string | undefined
}

/** How an episode begins. */
export interface ResetResult {
  readonly observation: Observation
  readonly info: {
    /** Names the session in logs; no secret. `null` where an external server keeps the state. */
    readonly id: string | null
    /** Hand it to an agent as a session URL; `null` where the server has no such address. */
    readonly capability: string | null
    readonly params: JsonObject
    readonly seed: string
    readonly limits: Limits
    /** Φ at the start, in the unit of reward; `null` where the world has none. */
    readonly potential: number | null
  }
}

/** What `step` resolves with: the step, and its `end` as two booleans as well. Neither is set while the episode goes on. */
export interface StepResult extends Step {
  /** The environment's rules ended the episode. */
  readonly terminated: boolean
  /** A budget ran out, or the session was closed. */
  readonly truncated: boolean
}

/** Adds the two booleans to a step. */
export function stepResultOf(step: Step): StepResult {
  return { ...step, terminated: step.end?.kind === 'terminated', truncated: step.end?.kind === 'truncated' }
}

/**
 * A world to act in, one episode after the other.
 *
 * `reset` begins an episode, `step` plays one action, `close` ends what is left of it. Calls are made one at a time, but for
 * `publish`, which others may make.
 * A wrapper (`with…`) is an environment again, so wrappers stack. Disposing closes.
 */
export interface Environment extends AsyncDisposable {
  /** The world that is played: its tools, the names of its reward terms, its limits. */
  readonly info: EnvironmentInfo
  /** Begins an episode, ending the one before. Rejects with `WireError` where the server refuses. */
  reset(task?: Playable, options?: ResetOptions): Promise<ResetResult>
  /**
   * Plays one action. Rejects with `not-playing` before `reset` and after a step that ended the episode, and with
   * `reply-malformed` if the answer is not a valid one.
   */
  step(action: Action, options?: CallOptions): Promise<StepResult>
  /**
   * The actions that the world's rules accept now, by tool, each with a JSON Schema of its arguments; none once the episode
   * is over. A function of what players see. Left out where the world does not say. Rejects with `not-playing` before
   * `reset` and after `close`.
   */
  legal?(options?: CallOptions): Promise<LegalActions>
  /**
   * Tells the episode what happened outside, exactly once for an `id`: the next step is played after it, and its
   * `info.events` tells of it. Where it ends the episode, the next step is the last one, and changes nothing. Rejects with
   * `WireError` where the server refuses (`invalid-params` for an event that the world does not take, `episode-ended`,
   * `too-large`, `rate-limited` where too many have come since the last step), with `not-playing` before `reset` and after
   * `close`, and with `option-invalid` where `info.events` lists none.
   */
  publish(event: EventInput, options?: CallOptions): Promise<MethodResult<'publish'>>
  /**
   * The episode at one moment, as plain JSON with private state in it: for whoever scores or searches, and not for a
   * player. Like `fork`, it may be taken after the end, and rejects with `not-playing` before `reset` and after `close`,
   * and with `not-forkable` where `info.forkable` is `false`.
   */
  snapshot(options?: SnapshotOptions): Promise<SessionSnapshot>
  /** Begins an episode where a snapshot was taken, ending the one before. Its time limit, if any, begins anew. */
  restore(snapshot: SessionSnapshot, options?: CallOptions): Promise<ResetResult>
  /**
   * Gives environments that stand where this one stands, or stood, and share nothing with it: what is played in one is not
   * seen in another. All that are asked for, or none. To go on from the end of an episode, name an earlier step.
   */
  fork(options?: ForkOptions): Promise<Fork[]>
  /** Ends the episode on the server. Safe to call twice. */
  close(): Promise<void>
}

/**
 * An environment in the midst of an episode: `step` plays on. Its own to close; over the connection of its parent, so close
 * it before that.
 */
export interface Fork extends Environment {
  /** How it stood when it was forked. */
  readonly start: ResetResult
}

/**
 * Creates a wrapper: an environment with the methods in `change`, which passes everything else on to `inner`. `wrap` wraps
 * its forks; without it, forks are those of `inner`.
 */
export function delegate(
  inner: Environment,
  change: Partial<Pick<Environment, 'info' | 'reset' | 'step' | 'legal' | 'restore' | 'close'>>,
  wrap: (fork: Fork) => Environment = (fork) => fork,
): Environment {
  const close = change.close ?? (() => inner.close())
  const legal = change.legal ?? inner.legal
  return {
    info: change.info ?? inner.info,
    reset: change.reset ?? ((task, options) => inner.reset(task, options)),
    step: change.step ?? ((action, options) => inner.step(action, options)),
    ...(legal && { legal: (options) => legal.call(inner, options) }),
    publish: (event, options) => inner.publish(event, options),
    snapshot: (options) => inner.snapshot(options),
    restore: change.restore ?? ((snapshot, options) => inner.restore(snapshot, options)),
    async fork(options) {
      const forks = await inner.fork(options)
      return forks.map((fork) => Object.assign(wrap(fork), { start: fork.start }))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
