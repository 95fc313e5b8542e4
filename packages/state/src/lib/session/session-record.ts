import type { SessionSnapshot } from '@episodic/protocol'
import type { SessionState } from '../state/session-state.ts'
import { byteLength } from '../state/state-text.ts'
import { storeInvalid } from '../state-error.ts'
import type { StoredProgress, StoredSession } from '../store/session-store.ts'

/** The progress of one seat: what a snapshot has of it, and where its last answer is. */
export type SeatRecord = SessionSnapshot['seats'][string] & {
  /** The revision of the last answered step, under which the step log keeps it; `null` before the first. */
  readonly last: number | null
}

export interface SessionBase extends Pick<SessionSnapshot, 'rng' | 'now' | 'seats' | 'turn' | 'history' | 'outside'> {
  /** The text of the state: the very string that the session was created with, so that forks can share it. */
  readonly state: string
  /** A digest of the request that opened it: a repeated request finds the session again. */
  readonly request: string
}

/** A whole session: what a snapshot has of it, and more. Plain JSON, so that it can be stored, replayed and forked. */
export interface SessionRecord extends Omit<SessionSnapshot, 'format' | 'seats' | 'state'> {
  /** Names the session in stores, lists and logs. Not a secret: tokens prove the right to a session. */
  readonly id: string
  /** The principal that opened it; `null` for an anonymous one. */
  readonly owner: string | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly touchedAt: number
  /** The state in which it began; `null` for the start of its world, which follows from parameters and seed. */
  readonly base: SessionBase | null
  /** Counts commits of any kind: a step of any seat, an outside event, an end. The store compares it. */
  readonly revision: number
  /** Counts owners: a takeover raises it, so that the former owner is fenced. */
  readonly epoch: number
  readonly state: SessionState
  readonly seats: { readonly [seat: string]: SeatRecord }
  /** The seats that may act; omitted for one seat. A seat whose move is sealed is left out until all have moved. */
  readonly turn?: readonly string[] | undefined
  /** Milliseconds since 1970 at which the turn began, if there is a limit for it; omitted before the first move. */
  readonly turnedAt?: number | undefined
  /**
   * UTF-8 bytes of the JSON text of the state in which it began, whose pages it may share with others; omitted for a
   * small one, and for a session that was not read from a store.
   */
  readonly shared?: number
  /** UTF-8 bytes of its step log, and of the pages that its steps have written. */
  readonly logBytes: number
  /**
   * The principals who play seats of a session that its players create and join by themselves; `null` is an anonymous
   * one. Omitted for any other session.
   */
  readonly players?: { readonly [seat: string]: string | null } | undefined
  /** The external effect that a step has started; omitted once a step of its seat is answered. */
  readonly effect?: PendingEffect | undefined
}

/** Stored before an external effect that must not happen twice. */
export interface PendingEffect {
  readonly seat: string
  /** A {@link contentId} of the action that does it. */
  readonly action: string
}

/** Version of the encoding. A store written by another version is refused, never guessed at. */
const FORMAT = 1

/** Encodes a record for a store. `state` is the text of its state, if the caller has it; `shared` as in the record. */
export function encodeSession(
  record: SessionRecord,
  state = JSON.stringify(record.state),
  shared = record.shared,
): StoredSession {
  const { owner, environment, params, seed, limits, createdAt, base } = record
  const kept = { format: FORMAT, owner, environment, params, seed, limits, createdAt, shared }
  const origin = JSON.stringify(base ? { ...kept, base: { ...base, state: undefined } } : kept)
  // A session that is created again under the same id was created at another time.
  const pool = `${record.id}.${createdAt}`
  const { id, revision, epoch, touchedAt } = record
  const progress = { id, revision, epoch, touchedAt, head: encodeHead(record), state }
  return { ...progress, origin, base: base ? base.state : null, pool, pools: [] }
}

/** Encodes the part of a record that commits change. `state` is the text of its state. */
export function encodeProgress(record: SessionRecord, state: string): StoredProgress {
  return new Progress(record, state)
}

class Progress implements StoredProgress {
  readonly id: string
  readonly revision: number
  readonly epoch: number
  readonly touchedAt: number
  readonly state: string
  readonly #record: SessionRecord
  #head: string | null = null

  constructor(record: SessionRecord, state: string) {
    this.id = record.id
    this.revision = record.revision
    this.epoch = record.epoch
    this.touchedAt = record.touchedAt
    this.state = state
    this.#record = record
  }

  /** Written when it is asked for: a store in memory keeps the value of most steps, and nobody reads it. */
  get head(): string {
    this.#head ??= encodeHead(this.#record)
    return this.#head
  }
}

function encodeHead({
  rng,
  now,
  end,
  seats,
  history,
  logBytes,
  turn,
  turnedAt,
  outside,
  effect,
  players,
}: SessionRecord): string {
  const always = { rng, now, end, seats, history, logBytes }
  // Few have several seats, events or effects.
  return JSON.stringify(turn || outside || effect ? { ...always, turn, turnedAt, outside, effect, players } : always)
}

/** What a record is after a step beside its state, as the step log keeps it. */
export type Moment = Pick<SessionRecord, 'rng' | 'now' | 'end' | 'seats' | 'history' | 'turn' | 'outside'>

/** Characters of a moment that a step log keeps at most: a page, as the step writes several of them. */
const MOMENT = 4_096

/**
 * Returns the text of the state after a step for the step log. `state` is the text that names the pages of its state.
 * A moment that has little room, because the session remembers much, is left out: it is computed by replay.
 */
export function encodeMoment({ rng, now, end, seats, history, turn, outside }: SessionRecord, state: string): string {
  const moment = JSON.stringify({ rng, now, end, seats, history, turn, outside } satisfies Moment)
  return moment.length > MOMENT ? state : `${state.slice(0, -1)},${moment}]`
}

export function decodeMoment(text: string | undefined): Moment | null {
  return text === undefined ? null : (JSON.parse(text)[2] ?? null)
}

/** UTF-8 bytes that a store keeps for a session, its step log included. */
export function storedBytes(
  { origin, base, head, state }: StoredSession,
  { logBytes }: Pick<SessionRecord, 'logBytes'>,
): number {
  return byteLength(origin) + byteLength(base ?? '') + byteLength(head) + byteLength(state) + logBytes
}

/** Decodes a stored session without its state. Throws `store-invalid` if it is damaged or of another version. */
export function decodeSession(stored: StoredSession): Omit<SessionRecord, 'state'> {
  const { id, revision, epoch, touchedAt } = stored
  try {
    const { format, base: begun, ...origin } = JSON.parse(stored.origin)
    if (format !== FORMAT) throw new Error(`its format is ${format}, and this version reads format ${FORMAT}`)
    if ((begun === undefined) !== (stored.base === null)) throw new Error('where it began is there in part')
    const base = begun ? { ...begun, state: stored.base } : null
    // A head that was written before log bytes were counted has none.
    return { id, revision, epoch, touchedAt, ...origin, base, logBytes: 0, ...JSON.parse(stored.head) }
  } catch (cause) {
    throw storeInvalid(
      `Session ${id} cannot be read from the store: ${(cause as Error).message}. Restore the store from a copy, or start a new one.`,
      { cause },
    )
  }
}
