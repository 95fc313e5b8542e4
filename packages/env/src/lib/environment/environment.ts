import type {
  Action,
  EnvironmentInfo,
  JsonObject,
  LegalActions,
  Limits,
  MethodResult,
  Observation,
  SessionSnapshot,
  StepReport,
} from '@episodic/protocol'
import type {
  CallOptions,
  EventInput,
  ForkOptions,
  Playable,
  ResetOptions,
  SnapshotOptions,
} from '../session/call-options.ts'
import type { StepResult } from '../session/step-result.ts'

export interface ResetResult {
  readonly observation: Observation
  readonly info: {
    /** Identifies the session in logs; not a secret. `null` if an external server keeps the state. */
    readonly id: string | null
    /** For the session URL of an agent; a secret. `null` if the server has no session URLs. */
    readonly capability: string | null
    readonly params: JsonObject
    readonly seed: string
    readonly limits: Limits
    /** Φ at the start, in the unit of reward; `null` if the environment defines none. */
    readonly potential: number | null
  }
}

/**
 * A world to act in, one episode after the other.
 *
 * `reset` starts an episode, `step` plays one action, `close` ends the episode. Make one call at a time; only `publish`
 * may be called concurrently. A wrapper (`with…`) is an environment too, so wrappers stack. Disposing closes.
 */
export interface Environment extends AsyncDisposable {
  /** What the server lists: tools, names of reward terms, limits. */
  readonly info: EnvironmentInfo
  /** Starts an episode, and ends the previous one. Rejects with `WireError` if the server rejects the request. */
  reset(task?: Playable, options?: ResetOptions): Promise<ResetResult>
  /**
   * Plays one action. Rejects with `not-playing` before `reset` and after a step that ended the episode, and with
   * `reply-malformed` if the answer is not a valid one.
   */
  step(action: Action, options?: CallOptions): Promise<StepResult>
  /**
   * Resolves with the actions that the rules accept now: by tool, a JSON Schema of its arguments; none after the end of
   * the episode. They depend only on what players see. Undefined if the environment defines no legal actions. Rejects
   * with `not-playing` before `reset` and after `close`.
   */
  legal?(options?: CallOptions): Promise<LegalActions>
  /**
   * Publishes an outside event, exactly once per `id`. The rules apply it before the next step, whose `info.events`
   * contains it. If the event ends the episode, the next step is the last one and changes nothing. Rejects with
   * `WireError` if the server rejects the event (`invalid-params` for one that the environment does not take,
   * `episode-ended`, `too-large`, `rate-limited` after too many since the last step), with `not-playing` before `reset`
   * and after `close`, and with `option-invalid` if `info.events` lists none.
   */
  publish(event: EventInput, options?: CallOptions): Promise<MethodResult<'publish'>>
  /**
   * Resolves with the session at one step, as plain JSON. It contains the private state: use it to score or to search,
   * and never show it to a player. Like `fork`, it works after the end of the episode too. Both reject with
   * `not-playing` before `reset` and after `close`, and with `not-forkable` if `info.forkable` is `false`.
   */
  snapshot(options?: SnapshotOptions): Promise<SessionSnapshot>
  /** Starts an episode from a snapshot, and ends the previous one. A time limit starts again from zero. */
  restore(snapshot: SessionSnapshot, options?: CallOptions): Promise<ResetResult>
  /**
   * Resolves with environments that continue from this episode, at the present or at an earlier step, and share no
   * state with it or with each other. Creates all of them or none. After the end of an episode, name an earlier step.
   */
  fork(options?: ForkOptions): Promise<Fork[]>
  /**
   * Ends the episode of a player that leaves before the end; resolves with `null` if it was ended before. Resolves with
   * the verdicts on what was left, and the action of the last step, if the environment takes one to judge that: then
   * `step` with it resolves with its result. Undefined if that cannot be.
   */
  leave?(options?: CallOptions): Promise<(Pick<StepReport, 'verdicts'> & { readonly action: Action | null }) | null>
  /** Ends the episode on the server, and judges nothing. Safe to call twice. */
  close(): Promise<void>
}

/**
 * An environment in the middle of an episode: `step` continues it. The caller closes it, before the connection of its
 * parent, which it uses.
 */
export interface Fork extends Environment {
  /** The state at which it was forked. */
  readonly start: ResetResult
}

/**
 * Returns a wrapper: an environment with the methods in `change`, which delegates every other method to `inner`. `wrap`
 * wraps its forks; by default they are the forks of `inner`.
 */
export function delegate(
  inner: Environment,
  change: Partial<Pick<Environment, 'info' | 'reset' | 'step' | 'legal' | 'restore' | 'close'>>,
  wrap: (fork: Fork) => Environment = (fork) => fork,
): Environment {
  const close = change.close ?? (() => inner.close())
  const legal = change.legal ?? inner.legal
  const { leave } = inner
  return {
    info: change.info ?? inner.info,
    reset: change.reset ?? ((task, options) => inner.reset(task, options)),
    step: change.step ?? ((action, options) => inner.step(action, options)),
    ...(legal && { legal: (options) => legal.call(inner, options) }),
    ...(leave && { leave: (options) => leave.call(inner, options) }),
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
