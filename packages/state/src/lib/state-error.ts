import { CodedError, isBranded, type JsonObject } from '@episodic/protocol'

/**
 * - `session-not-found`: no such session in the store: never opened, closed, or expired.
 * - `seq-conflict`: the step is not the next one; `details.expected` is.
 * - `seq-reused`: the step was answered already, for another action.
 * - `fenced`: whoever sends it lost the session to a later epoch.
 * - `episode-ended`: no step follows the end.
 * - `queue-full`: too many calls wait for this session.
 * - `too-large`: the state or answer would pass the session's byte limit.
 * - `action-invalid`: the action holds something that JSON cannot say, such as half a surrogate pair.
 * - `not-json`: the state holds something that JSON cannot say.
 * - `store-unavailable`: the store did not answer; nothing was applied, and the call may be retried.
 * - `store-locked`: another process has the store open.
 * - `store-invalid`: the store is corrupt, or another version wrote it.
 */
export type StateErrorCode =
  | 'session-not-found'
  | 'seq-conflict'
  | 'seq-reused'
  | 'fenced'
  | 'episode-ended'
  | 'queue-full'
  | 'too-large'
  | 'action-invalid'
  | 'not-json'
  | 'store-unavailable'
  | 'store-locked'
  | 'store-invalid'

export class StateError extends CodedError<StateErrorCode> {
  constructor(code: StateErrorCode, message: string, options?: ErrorOptions & { details?: JsonObject }) {
    super('StateError', code, message, options)
  }

  static is(error: unknown, code?: StateErrorCode): error is StateError {
    return isBranded('StateError', error, code)
  }
}
