import type { SeatRecord, SessionRecord } from './session-record.ts'
import { StateError } from './state-error.ts'

/** A step as it arrives. */
export interface StepRequest {
  readonly seat: string
  /** How many steps of the seat the caller believes were applied; left out, the step is an ordinary at-most-once call. */
  readonly seq?: number | undefined
  /** The epoch that the caller holds; left out, the current one. */
  readonly epoch?: number | undefined
}

/**
 * `play`: it is the next step. `replay`: it is the last one again, which was answered, and stands in the step log at
 * `revision`. Whether it is a retry depends on the action there: the same one is, another is a mistake.
 */
export type StepVerdict = { readonly kind: 'play' } | { readonly kind: 'replay'; readonly revision: number }

/**
 * Decides what a step means to a session, from the record alone.
 *
 * One remembered answer a seat is enough to settle every retry, because a seat has one step in flight.
 * Throws `fenced`, `seq-conflict` (with `details.expected`) or `episode-ended`.
 */
export function decideStep(record: SessionRecord, request: StepRequest): StepVerdict {
  const seat = seatOf(record, request.seat)
  if (request.epoch !== undefined && request.epoch < record.epoch)
    throw new StateError('fenced', 'This session was taken over by a later owner. Open or restore it again to go on.')
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
  if (record.end)
    throw new StateError(
      'episode-ended',
      `The episode is over (${record.end.kind}: ${record.end.reason}), so no step follows. Open a new session to play again.`,
      { details: { end: record.end } },
    )
  return { kind: 'play' }
}

/** The record of a seat. Throws a `RangeError` for one that the session does not have: seats come from capabilities. */
export function seatOf(record: SessionRecord, seat: string): SeatRecord {
  const found = Object.hasOwn(record.seats, seat) ? record.seats[seat] : undefined
  if (!found) throw new RangeError(`Session ${record.id} has no seat named ${seat}.`)
  return found
}
