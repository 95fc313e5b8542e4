import type { EpisodeEnd, JsonObject, Limits, OutsideHistory, RngState } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import type { StoredProgress, StoredSession } from '../store/session-store.ts'
import type { History } from './history.ts'
import { byteLength } from './session-text.ts'

/** What is true in a world: the part that players may see, and the part that they may not. */
export interface SessionState {
  readonly public: JsonObject
  readonly private: JsonObject
}

/** Where one seat stands. */
export interface SeatRecord {
  /** Answered steps. A trainer's next step sends this number. */
  readonly seq: number
  /** The revision of the last answered step, under which the step log keeps it; `null` before the first. */
  readonly last: number | null
}

/** How a session stood when it began, where that is not the start of its world: it was forked or restored. */
export interface SessionBase {
  /** The state as its JSON text: the very string that the session was created with, so that forks can share it. */
  readonly state: string
  readonly rng: RngState
  readonly now: number
  readonly seats: { readonly [seat: string]: { readonly seq: number } }
  readonly history: History
  readonly outside?: OutsideHistory | undefined
  /** A digest of the request that began it: the same request finds the session again, and another one does not. */
  readonly request: string
}

/** Everything that a session is. Plain JSON, so that it can be stored, replayed and forked. */
export interface SessionRecord {
  /** Names the session in stores, lists and logs. No secret: what proves the right to it is derived elsewhere. */
  readonly id: string
  /** The principal that opened it; `null` for an anonymous one. */
  readonly owner: string | null
  readonly environment: { readonly name: string; readonly version: string }
  readonly params: JsonObject
  readonly seed: string
  readonly limits: Limits
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly touchedAt: number
  /** Where it began; `null` for the start of its world, which parameters and seed say. */
  readonly base: SessionBase | null
  /** Counts commits of any kind: a step of any seat, an outside event, an end. What the store compares. */
  readonly revision: number
  /** Counts owners: a takeover raises it, so that the former owner is fenced. */
  readonly epoch: number
  /** Position of every random stream. */
  readonly rng: RngState
  /** Virtual time in milliseconds: 0 at the start, moved by the rules alone. */
  readonly now: number
  readonly state: SessionState
  readonly end: EpisodeEnd | null
  readonly seats: { readonly [seat: string]: SeatRecord }
  readonly history: History
  /** UTF-8 bytes of its step log. */
  readonly logBytes: number
  /** What it keeps of outside events; left out where there never was one. */
  readonly outside?: OutsideHistory | undefined
  /** What a step is about to do outside, or has done; left out once a step of its seat is answered. */
  readonly effect?: PendingEffect | undefined
}

/** Written down before something is done outside that may not be done twice. */
export interface PendingEffect {
  readonly seat: string
  /** A {@link contentId} of the action that does it. */
  readonly action: string
}

/** Version of the encoding. A store written by another version is refused, never guessed at. */
const FORMAT = 1

/** Writes a record as a store keeps it, with its state as the text that the caller may have of it. */
export function encodeSession(record: SessionRecord, state = JSON.stringify(record.state)): StoredSession {
  const { owner, environment, params, seed, limits, createdAt, base } = record
  const kept = { format: FORMAT, owner, environment, params, seed, limits, createdAt }
  const origin = JSON.stringify(base ? { ...kept, base: { ...base, state: undefined } } : kept)
  return { ...encodeProgress(record, state), origin, base: base ? base.state : null }
}

/** Writes the part of a record that commits change, with its state as the text that the caller has of it. */
export function encodeProgress(record: SessionRecord, state: string): StoredProgress {
  const { id, revision, epoch, touchedAt, rng, now, end, seats, history, logBytes, outside, effect } = record
  const always = { rng, now, end, seats, history, logBytes }
  // Every step writes this, and nearly none has to do with anything outside.
  const head = JSON.stringify(outside || effect ? { ...always, outside, effect } : always)
  return { id, revision, epoch, touchedAt, head, state }
}

/** UTF-8 bytes that a store keeps for a session, its step log included. */
export function storedBytes({ origin, base, head, state }: StoredSession, { logBytes }: SessionRecord): number {
  return byteLength(origin) + byteLength(base ?? '') + byteLength(head) + byteLength(state) + logBytes
}

/** Reads a stored session back. Throws `store-invalid` where the text is damaged or of another version. */
export function decodeSession(stored: StoredSession): SessionRecord {
  const { id, revision, epoch, touchedAt } = stored
  try {
    const { format, base: begun, ...origin } = JSON.parse(stored.origin)
    if (format !== FORMAT) throw new Error(`its format is ${format}, and this version reads format ${FORMAT}`)
    if ((begun === undefined) !== (stored.base === null)) throw new Error('where it began is there in part')
    const base = begun ? { ...begun, state: stored.base } : null
    const state = JSON.parse(stored.state)
    // A head that was written before log bytes were counted has none.
    return { id, revision, epoch, touchedAt, ...origin, base, logBytes: 0, ...JSON.parse(stored.head), state }
  } catch (cause) {
    throw new StateError(
      'store-invalid',
      `Session ${id} cannot be read from the store: ${(cause as Error).message}. Restore the store from a copy, or start a new one.`,
      { cause },
    )
  }
}
