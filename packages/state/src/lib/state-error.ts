import { CodedError } from '@episodic/protocol/internal'

/**
 * - `session-not-found`: no such session in the store: never opened, closed, or expired.
 * - `seq-conflict`: the step is not the next one; `details.expected` is.
 * - `seq-reused`: the step was answered already, for another action.
 * - `fenced`: the caller lost the session to a later epoch.
 * - `state-lost`: the store holds less of the session than was acknowledged; the session cannot go on.
 * - `episode-ended`: no step follows the end.
 * - `not-your-turn`: the seat may not act now; `details.turn` names those that may.
 * - `queue-full`: too many calls wait for this session.
 * - `too-large`: the state or answer would pass the session's byte limit.
 * - `log-full`: the session's step log has reached its byte limit, so no further step is played; `details.limit` is
 *   that limit.
 * - `action-invalid`: the action holds something that JSON cannot say, such as half a surrogate pair.
 * - `outcome-unknown`: the step was to do something outside that may not be done twice, and may have done it.
 * - `event-invalid`: the id of an outside event was another event's.
 * - `event-too-large`: an outside event would pass the session's byte limit.
 * - `events-full`: too many outside events, or too large ones, have come since the last step; `details.waiting` says
 *   how many.
 * - `not-json`: the state holds something that JSON cannot say.
 * - `pages-missing`: a session was to be created over pages that the store does not have (any more).
 * - `store-unavailable`: the store could not be reached or could not write; the call may be retried. Nothing was
 *   applied, or, if only the store's answer was lost, all of it: a retry with the same `seq` settles which.
 * - `store-locked`: another process has the store open.
 * - `store-invalid`: the store is damaged, another version or application wrote it, or it is set up to lose what it
 *   keeps.
 * - `package-missing`: a package that only this store needs is not installed.
 */
export type StateErrorCode =
  | 'session-not-found'
  | 'seq-conflict'
  | 'seq-reused'
  | 'fenced'
  | 'state-lost'
  | 'episode-ended'
  | 'not-your-turn'
  | 'queue-full'
  | 'too-large'
  | 'log-full'
  | 'action-invalid'
  | 'outcome-unknown'
  | 'event-invalid'
  | 'event-too-large'
  | 'events-full'
  | 'not-json'
  | 'pages-missing'
  | 'store-unavailable'
  | 'store-locked'
  | 'store-invalid'
  | 'package-missing'

export class StateError extends CodedError<StateErrorCode> {
  static override readonly brand: string = 'StateError'
}

/** Returns the error for a store that is damaged, or that this release must not use. */
export function storeInvalid(message: string, options?: ErrorOptions): StateError {
  return new StateError('store-invalid', message, options)
}
