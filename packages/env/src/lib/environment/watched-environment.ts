import type { Action, MethodResult } from '@episodic/protocol'
import type { CallOptions } from '../session/call-options.ts'
import type { Environment } from './environment.ts'

export interface WatchOptions extends CallOptions {
  /** Seconds to wait for an action, from 0 to 60. */
  readonly wait: number
}

/**
 * An environment that another client plays, at the session URL. `next` resolves with the action of that client, and
 * `step` with that action resolves with its result. So wrappers apply to watched steps as to any other.
 */
export interface WatchedEnvironment extends Environment {
  /** The capability of the session, a secret; `null` before `reset` and after `close`. */
  readonly capability: string | null
  /**
   * Resolves with the next action of the other client, each once and in order, or with `null` if there is none within
   * `wait`. After an action, call `step` with it. Rejects with `not-playing` before `reset`, and after an abort with
   * the signal's reason.
   */
  next(options: WatchOptions): Promise<Action | null>
  /**
   * Closes the session of a client that has left. Resolves with its end and success, and the last step, if the server
   * took one; then call `step` with its action. Rejects with `not-playing` before `reset` and after `close`.
   */
  finish(options?: CallOptions): Promise<MethodResult<'close'>>
}
