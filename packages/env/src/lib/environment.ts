import type { Action, EnvironmentInfo, JsonObject, Limits, LimitsRequest, Observation, Step } from '@episodic/protocol'

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

/** How an episode begins. */
export interface Start {
  readonly observation: Observation
  readonly info: {
    /** Names the session in logs; no secret. `null` where a foreign server keeps the state. */
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

/**
 * A world to act in, one episode after the other.
 *
 * `reset` begins an episode, `step` plays one action, `close` ends what is left of it. Calls are made one at a time.
 * A wrapper (`with…`) is an environment again, so wrappers stack. Disposing closes.
 */
export interface Environment extends AsyncDisposable {
  /** The world that is played: its tools, the names of its reward terms, its limits. */
  readonly info: EnvironmentInfo
  /** Begins an episode, ending the one before. Rejects with `WireError` where the server refuses. */
  reset(task?: Playable, options?: ResetOptions): Promise<Start>
  /**
   * Plays one action. `end` of the returned step tells `terminated` from `truncated`; after either, and before the
   * first `reset`, it rejects with `not-playing`. Rejects with `reply-malformed` where the answer makes no sense.
   */
  step(action: Action, options?: CallOptions): Promise<Step>
  /** Ends the episode on the server. Safe to call twice. */
  close(): Promise<void>
}

/** An environment that passes everything on, for wrappers to change one thing of. */
export function delegate(
  inner: Environment,
  change: Partial<Pick<Environment, 'info' | 'reset' | 'step' | 'close'>>,
): Environment {
  const close = change.close ?? (() => inner.close())
  return {
    info: change.info ?? inner.info,
    reset: change.reset ?? ((task, options) => inner.reset(task, options)),
    step: change.step ?? ((action, options) => inner.step(action, options)),
    close,
    [Symbol.asyncDispose]: close,
  }
}
