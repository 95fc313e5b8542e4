import type { Action, EpisodeEnd, JsonObject } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import type { SessionRecord } from './session-record.ts'

// The errors of a session, with the messages that its caller receives.

/** Returns the error for a session that does not exist, whatever the reason. */
export function sessionNotFound(): StateError {
  return new StateError(
    'session-not-found',
    'There is no such session: it was never opened here, has been closed, or has expired. Open a new one.',
  )
}

export function episodeEnded(end: EpisodeEnd): StateError {
  return new StateError(
    'episode-ended',
    `The episode is over (${end.kind}: ${end.reason}), so nothing follows. Open a new session to play again.`,
    { details: { end } },
  )
}

export function notYourTurn(turn: readonly string[], revision: number): StateError {
  return new StateError(
    'not-your-turn',
    `It is the turn of ${turn.join(', ')}. Nothing was played, and nothing is counted. Wait for the turn of this seat.`,
    { details: { turn: [...turn], revision } },
  )
}

export function fenced(): StateError {
  return new StateError('fenced', 'This session was taken over by a later owner. Open or restore it again to go on.')
}

export function outcomeUnknown({ tool }: Action): StateError {
  return new StateError(
    'outcome-unknown',
    `Whether the external effect of this call of ${tool} happened is unknown: it was started, and its answer was lost. Read the state with another call first; a new call of ${tool} is then played again.`,
  )
}

/**
 * Returns the error for a store that holds less of a session than was acknowledged, as a Redis may that was killed
 * before it wrote to disk, or was replaced by a replica that lags behind. `what` says what is missing.
 */
export function stateLost(what: string, details: JsonObject = {}): StateError {
  return new StateError(
    'state-lost',
    `The store lost part of this session: ${what}. It cannot go on; open a new one, and count this episode as failed.`,
    { details },
  )
}

/** Throws `state-lost` if `now` cannot follow `seen`: commits raise the revision, and none lowers the epoch. */
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
