import {
  type AppliedEvent,
  canonicalJson,
  contentId,
  type EpisodeEnd,
  type OutsideEvent,
  type OutsideHistory,
} from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import type { SessionRecord } from './session-record.ts'
import { byteLength } from './session-text.ts'
import type { Change } from './step.ts'

/** What the rules made of an outside event. */
export interface Happened {
  readonly change: Change
  readonly end: EpisodeEnd | null
  /** The text that players are shown; `null` for none. */
  readonly said: string | null
}

/** How many events a session knows again, and how many may come between two of its steps, where nobody says otherwise. */
export const DEFAULT_EVENTS = 256

const NONE: OutsideHistory = { pending: [], known: [] }

/**
 * The event of this id, where the session has applied it and still knows of it. Throws `event-invalid` where that was
 * another event.
 */
export function findKnown({ outside }: SessionRecord, event: OutsideEvent): OutsideHistory['known'][number] | null {
  const known = outside?.known.find(({ id }) => id === event.id)
  if (!known) return null
  if (known.content === contentOf(event)) return known
  throw new StateError(
    'event-invalid',
    `The event ${event.id} was delivered already, with another type or other data. Make a new id for a new event.`,
  )
}

/** Throws `events-full` or `event-too-large` where a session has no room for one more event before its next step. */
export function assertRoom({ outside = NONE, limits }: SessionRecord, event: OutsideEvent, bound: number): void {
  const bytes = sizeOf([event])
  if (bytes > limits.bytes)
    throw new StateError(
      'event-too-large',
      `The event has ${bytes} bytes, and the session's limit is ${limits.bytes}. Publish less, or a reference to it.`,
      { details: { limit: limits.bytes } },
    )
  const waiting = outside.pending.length
  if (waiting < bound && sizeOf([...outside.pending, event]) <= limits.bytes) return
  throw new StateError(
    'events-full',
    `${waiting} events have come since the last step of this session, and it keeps no more. Publish again after its next step.`,
    { details: { waiting } },
  )
}

/** The record after an event. Takes what {@link assertRoom} lets in. */
export function recordEvent(
  record: SessionRecord,
  event: OutsideEvent,
  { change, end, said }: Happened,
  { bound, now }: { readonly bound: number; readonly now: number },
): SessionRecord {
  const { pending, known } = record.outside ?? NONE
  const { id, type, data } = event
  const revision = record.revision + 1
  const applied: AppliedEvent = { id, type, data, said, end, revision }
  return {
    ...record,
    ...change,
    end,
    revision,
    touchedAt: now,
    outside: {
      pending: [...pending, applied],
      known: [...known, { id, content: contentOf(event), revision, end }].slice(-bound),
    },
  }
}

/** Enough of a digest to tell an event from another that somebody gave the same id by mistake. */
function contentOf({ type, data }: OutsideEvent): string {
  return contentId(canonicalJson([type, data])).slice(0, 16)
}

function sizeOf(events: readonly OutsideEvent[]): number {
  return byteLength(JSON.stringify(events))
}
