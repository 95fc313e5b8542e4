import type { JsonObject } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import type { SessionRecord } from './session-record.ts'

/**
 * The answer where a store holds less of a session than was acknowledged, as a Redis may that was killed before it
 * wrote to disk, or was replaced by a replica that lags behind. `what` says how it shows.
 */
export function stateLost(what: string, details: JsonObject = {}): StateError {
  return new StateError(
    'state-lost',
    `The store lost part of this session: ${what}. It cannot go on; open a new one, and count this episode as failed.`,
    { details },
  )
}

/**
 * Throws `state-lost` where a session that was `seen` cannot have become what it is `now`: every commit raises its
 * revision, and none lowers its epoch. Takes two that differ.
 */
export function assertMovedOn(seen: SessionRecord, now: SessionRecord): void {
  // Closed and opened anew under the same request key: it has its id, and is another session.
  if (now.createdAt !== seen.createdAt) return
  if (now.revision > seen.revision && now.epoch >= seen.epoch) return
  throw stateLost(
    now.revision === seen.revision
      ? `it holds another revision ${now.revision} than was seen in it`
      : `revision ${seen.revision} of epoch ${seen.epoch} was seen in it, and it holds revision ${now.revision} of epoch ${now.epoch}`,
  )
}
