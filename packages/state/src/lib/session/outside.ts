import { canonicalJson, contentId, type OutsideEvent } from '@episodic/protocol'
import { type AppliedEvent, eventTexts, MOST_ANSWER_BYTES, type OutsideHistory } from '@episodic/protocol/internal'
import { byteLength } from '../state/state-text.ts'
import { StateError } from '../state-error.ts'
import type { SessionRecord } from './session-record.ts'
import { type Change, withMessages } from './step.ts'

export interface Happened extends Pick<AppliedEvent, 'said' | 'sent' | 'end'> {
  readonly change: Change
  /** The seats that may act now; omitted if there is one seat. */
  readonly turn?: readonly string[] | undefined
}

/** Default for the events that a session remembers, and for those that may come between two of its steps. */
export const DEFAULT_EVENTS = 256

const NONE: OutsideHistory = { pending: [], known: [] }

/** Returns the event of this id that was applied and is remembered. Throws `event-invalid` if it was another. */
export function findKnown({ outside }: SessionRecord, event: OutsideEvent): OutsideHistory['known'][number] | null {
  const known = outside?.known.find(({ id }) => id === event.id)
  if (!known) return null
  if (known.content === contentOf(event)) return known
  throw new StateError(
    'event-invalid',
    `The event ${event.id} was delivered already, with another type or other data. Make a new id for a new event.`,
  )
}

/** Throws `events-full` or `event-too-large` if a session has no room for one more event before its next step. */
export function assertRoom({ outside = NONE, limits }: SessionRecord, event: OutsideEvent, bound: number): void {
  const bytes = sizeOf([event])
  const room = Math.min(limits.bytes, MOST_ANSWER_BYTES)
  if (bytes > room)
    throw new StateError(
      'event-too-large',
      `The event has ${bytes} bytes, and the limit is ${room}. Publish less, or a reference to it.`,
      { details: { limit: room } },
    )
  const waiting = outside.pending.length
  if (waiting < bound && sizeOf([...outside.pending, event]) <= room) return
  throw new StateError(
    'events-full',
    `${waiting} events have come since the last step of this session, and it keeps no more. Publish again after its next step.`,
    { details: { waiting } },
  )
}

export function recordEvent(
  record: SessionRecord,
  event: OutsideEvent,
  { change, end, said, sent, turn }: Happened,
  { bound, now }: { readonly bound: number; readonly now: number },
): SessionRecord {
  const { pending, known } = record.outside ?? NONE
  const { id, type, data } = event
  const revision = record.revision + 1
  const applied: AppliedEvent = { id, type, data, said, ...(sent && { sent }), end, revision }
  const passes = turn !== undefined && turn.join() !== record.turn?.join()
  return {
    ...record,
    ...change,
    end,
    revision,
    touchedAt: now,
    ...(turn && { turn, seats: withEvent(record.seats, applied) }),
    ...(passes && record.limits.turnSeconds !== undefined && { turnedAt: now }),
    outside: {
      pending: [...pending, applied],
      known: [...known, { id, content: contentOf(event), revision, end }].slice(-bound),
    },
  }
}

/** Returns the seats of a game with the texts of an event: with their next answers each of them learns of it. */
function withEvent(seats: SessionRecord['seats'], event: AppliedEvent): SessionRecord['seats'] {
  return Object.fromEntries(
    Object.entries(seats).map(([name, seat]) => [name, seat.end ? seat : withMessages(seat, eventTexts(event, name))]),
  )
}

/** A short digest: it only has to distinguish an event from another one with the same id, given by mistake. */
function contentOf({ type, data }: OutsideEvent): string {
  return contentId(canonicalJson([type, data])).slice(0, 16)
}

function sizeOf(events: readonly OutsideEvent[]): number {
  return byteLength(JSON.stringify(events))
}
