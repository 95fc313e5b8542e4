import type { Action, MethodResult } from '@episodic/protocol'
import type { CallOptions, Environment } from './environment.ts'

export interface WatchOptions extends CallOptions {
  /** Seconds to wait for an action, from 0 to 60. */
  readonly wait: number
}

/**
 * An environment that somebody else plays: whoever has the capability of its session, at the session's address. `next`
 * gives what they did, and `step` with that what came of it, so that wrappers do to their steps what they do to any.
 */
export interface WatchedEnvironment extends Environment {
  /** Of the session that is being played; `null` before `reset` and after `close`. It is a secret. */
  readonly capability: string | null
  /**
   * Gives the next action that somebody else took, each of them once and in order; `null` where none is taken while it waits.
   * After one, call `step` with it. Rejects with `not-playing` before `reset`; after an abort, with the signal's reason.
   */
  next(options: WatchOptions): Promise<Action | null>
  /** Closes the episode, and tells how it ended and whether it succeeded. Rejects with `not-playing` where there is none. */
  finish(options?: CallOptions): Promise<MethodResult<'close'>>
}
