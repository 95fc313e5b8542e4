import type { Action, EpisodeEnd } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import { isEndUnreported } from './is-end-unreported.ts'
import type { SeatRecord, SessionRecord } from './session-record.ts'
import { stateLost } from './state-lost.ts'

/** A step as it arrives. */
export interface StepRequest {
  readonly seat: string
  /** How many steps of the seat the caller believes were applied; left out, the step is an ordinary at-most-once call. */
  readonly seq?: number | undefined
  /** The epoch that the caller holds; by default that of the session's holder. */
  readonly epoch?: number | undefined
}

/**
 * `play`: it is the next step; if an outside event has ended the episode, the step only reports that end. `replay`: it is
 * the last answered step again, which is in the step log at `revision`. With the same action it is a retry, with another
 * one a mistake.
 */
export type StepVerdict = { readonly kind: 'play' } | { readonly kind: 'replay'; readonly revision: number }

/**
 * Decides what a step means to a session, from the record alone.
 *
 * One stored answer for each seat is enough to settle every retry, because a seat has one step in flight. A caller counts
 * the answers that it received, and has an epoch that it received: if either is ahead of the record, the store has lost an
 * answered step. Throws `fenced`, `seq-conflict` and `state-lost` (with `details.expected` if the `seq` was wrong), or
 * `episode-ended`.
 */
export function decideStep(record: SessionRecord, request: StepRequest): StepVerdict {
  const seat = seatOf(record, request.seat)
  if (request.epoch !== undefined && request.epoch !== record.epoch)
    throw request.epoch < record.epoch
      ? fenced()
      : stateLost(`epoch ${request.epoch} was issued, and the store holds ${record.epoch}`)
  if (request.seq !== undefined && request.seq > seat.seq)
    throw stateLost(`${request.seq} steps were answered, and the store holds ${seat.seq}`, { expected: seat.seq })
  if (request.seq !== undefined && request.seq !== seat.seq) {
    const { last } = seat
    if (request.seq !== seat.seq - 1 || last === null)
      throw new StateError(
        'seq-conflict',
        `Step ${request.seq} is not the next one: ${seat.seq} steps are answered. Send seq ${seat.seq}.`,
        { details: { expected: seat.seq } },
      )
    return { kind: 'replay', revision: last }
  }
  if (record.end && !isEndUnreported(record)) throw episodeEnded(record.end)
  return { kind: 'play' }
}

/** Returns the error for a step after the end of an episode. */
export function episodeEnded(end: EpisodeEnd): StateError {
  return new StateError(
    'episode-ended',
    `The episode is over (${end.kind}: ${end.reason}), so nothing follows. Open a new session to play again.`,
    { details: { end } },
  )
}

/** Throws `log-full` if the step log of a session has reached `bound` bytes, so that no further step may be played. */
export function assertLogRoom({ logBytes }: SessionRecord, bound: number): void {
  if (logBytes < bound) return
  throw new StateError(
    'log-full',
    `The step log of this session has ${logBytes} bytes and its limit is ${bound}, so no further step is played. Open a new session, or have the server's limit of log bytes raised.`,
    { details: { limit: bound } },
  )
}

/** Returns the error for the holder of a session that has a later owner. */
export function fenced(): StateError {
  return new StateError('fenced', 'This session was taken over by a later owner. Open or restore it again to go on.')
}

/** Returns the error for a step with an external effect that may have happened. */
export function outcomeUnknown({ tool }: Action): StateError {
  return new StateError(
    'outcome-unknown',
    `Whether the external effect of this call of ${tool} happened is unknown: it was started, and its answer was lost. Read the state with another call first; a new call of ${tool} is then played again.`,
  )
}

/** The record of a seat. Throws a `RangeError` for one that the session does not have: seats come from capabilities. */
export function seatOf(record: SessionRecord, seat: string): SeatRecord {
  const found = Object.hasOwn(record.seats, seat) ? record.seats[seat] : undefined
  if (!found) throw new RangeError(`Session ${record.id} has no seat named ${seat}.`)
  return found
}
