import type { OutsideHistory, SessionSnapshot } from '@episodic/protocol'
import type { SessionBase, SessionRecord } from '@episodic/state'
import type { Principal } from './caller.ts'

/** A session at one moment, from which others can begin. */
export interface Snapshot {
  readonly record: Omit<SessionSnapshot, 'format'>
  /** Its state as JSON text: kept as it is by every session that begins here, so that the store holds it once. */
  readonly stateText: string
}

/** Answered steps of all seats together. */
export function stepsOf(seats: SessionSnapshot['seats']): number {
  return Object.values(seats).reduce((sum, { seq }) => sum + seq, 0)
}

/** Writes a moment as whoever asked for it may keep it: nothing in it is shared with the session. */
export function snapshotOf({ record, stateText }: Snapshot): SessionSnapshot {
  const { environment, params, seed, limits, rng, now, seats, history, outside, end } = record
  const rest = structuredClone({
    environment,
    params,
    seed,
    limits,
    rng,
    now,
    history,
    end,
    ...(outside && { outside }),
  })
  return { format: 1, ...rest, state: JSON.parse(stateText), seats: mapSeats(seats, ({ seq }) => ({ seq })) }
}

/**
 * Where the sessions of one request begin. `request` is its digest. With fresh chance, every stream starts anew; without,
 * each stands where it stood.
 */
export function baseAt(
  { record, stateText }: Snapshot,
  { request, freshChance }: { readonly request: string; readonly freshChance: boolean },
): SessionBase {
  const { rng, now, seats, history, outside } = record
  return {
    state: stateText,
    rng: freshChance ? {} : rng,
    now,
    seats: mapSeats(seats, ({ seq }) => ({ seq })),
    history,
    ...(outside && { outside: beforehand(outside) }),
    request,
  }
}

/** The record of a session that begins now, at `base`. Its parts are values that nobody changes, so twins may share them. */
export function recordAt(
  { record: { environment, params, limits, state } }: Snapshot,
  base: SessionBase,
  identity: { readonly id: string; readonly owner: Principal; readonly createdAt: number; readonly seed: string },
): SessionRecord {
  const { rng, now, history, outside } = base
  return {
    ...identity,
    environment,
    params,
    limits,
    touchedAt: identity.createdAt,
    base,
    revision: 0,
    epoch: 1,
    rng,
    now,
    state,
    end: null,
    seats: mapSeats(base.seats, ({ seq }) => ({ seq, last: null })),
    history,
    logBytes: 0,
    outside,
    effect: undefined,
  }
}

/** The record of a session that has a base, as it was there. */
export function recordAtBase(record: SessionRecord, base: SessionBase): Snapshot & { readonly record: SessionRecord } {
  const moment = { record: { ...record, state: JSON.parse(base.state) }, stateText: base.state }
  return { record: recordAt(moment, base, record), stateText: base.state }
}

/** What happened to another session is known to those that begin there, and was before any revision of theirs. */
function beforehand({ pending, known }: OutsideHistory): OutsideHistory {
  const first = <T>(event: T) => ({ ...event, revision: 0 })
  return { pending: pending.map(first), known: known.map(first) }
}

function mapSeats<In, Out>(seats: { readonly [seat: string]: In }, map: (seat: In) => Out): { [seat: string]: Out } {
  return Object.fromEntries(Object.entries(seats).map(([name, seat]) => [name, map(seat)]))
}
