import type { SessionSnapshot } from '@episodic/protocol'
import type { OutsideHistory } from '@episodic/protocol/internal'
import type { SessionRecord } from '@episodic/state'
import type { HeldSession, KeptState, SessionBase } from '@episodic/state/internal'
import { mapSeats, withoutLast } from '../../environment/rules/snapshot-of.ts'
import type { Principal } from '../access/caller.ts'

/** A session at one step, from which others can be created. */
export interface Snapshot extends Pick<HeldSession, 'kept' | 'pools'> {
  /** With the state of `kept`. Sessions created from it share that, so that the store holds it once. */
  readonly record: Omit<SessionSnapshot, 'format'>
}

/**
 * Returns the base of the sessions that one request creates. `request` is its digest. With `freshChance`, every random
 * stream starts anew; otherwise each continues from its position.
 */
export function baseAt(
  { record, kept }: Snapshot,
  { request, freshChance }: { readonly request: string; readonly freshChance: boolean },
): SessionBase {
  const { rng, now, seats, turn, history, outside } = record
  return {
    state: kept.text,
    rng: freshChance ? {} : rng,
    now,
    seats: mapSeats(seats, withoutLast),
    ...(turn && { turn }),
    history,
    ...(outside && { outside: beforehand(outside) }),
    request,
  }
}

/** Returns the record of a new session at `base`. Its parts are never changed, so forks may share them. */
export function recordAt(
  { record: { environment, params, limits, state } }: Pick<Snapshot, 'record'>,
  base: SessionBase,
  identity: { readonly id: string; readonly owner: Principal; readonly createdAt: number; readonly seed: string },
): SessionRecord {
  const { rng, now, turn, history, outside } = base
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
    seats: mapSeats(base.seats, (seat) => ({ ...seat, last: null })),
    ...(turn && { turn }),
    history,
    logBytes: 0,
    outside,
    effect: undefined,
  }
}

/** Returns the record that a session with a base had at its start. `kept` is the state of the base. */
export function recordAtBase(record: SessionRecord, base: SessionBase, kept: KeptState): SessionRecord {
  return recordAt({ record: { ...record, state: kept.state } }, base, record)
}

/** Moves the parent's outside events before the first revision of the new session, which knows them. */
function beforehand({ pending, known }: OutsideHistory): OutsideHistory {
  const first = <T>(event: T) => ({ ...event, revision: 0 })
  return { pending: pending.map(first), known: known.map(first) }
}
