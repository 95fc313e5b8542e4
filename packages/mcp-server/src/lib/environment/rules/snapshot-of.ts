import type { SessionSnapshot } from '@episodic/protocol'
import { judgementOf } from '@episodic/protocol/internal'
import type { KeptState } from '@episodic/state/internal'

/** Returns a session at one step as plain JSON, from which others can be opened. */
export function snapshotOf({
  record,
  kept,
}: {
  readonly record: Omit<SessionSnapshot, 'format'>
  readonly kept: KeptState
}): SessionSnapshot {
  const { environment, params, seed, limits, rng, now, seats, turn, history, outside, end } = record
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
    seats: mapSeats(seats, withoutLast),
    ...(turn && { turn }),
  })
  return { format: 1, ...rest, state: kept.toPlain() }
}

/** Everything that decides how a seat continues: not its last answer, which other sessions do not have. */
export function withoutLast({ seq, due, messages, end, ...judged }: SeatSnapshot): SeatSnapshot {
  return { seq, ...(due && { due }), ...(messages && { messages }), ...(end && { end }), ...judgementOf(judged) }
}

type SeatSnapshot = SessionSnapshot['seats'][string]

export function mapSeats<In, Out>(
  seats: { readonly [seat: string]: In },
  map: (seat: In) => Out,
): { [seat: string]: Out } {
  return Object.fromEntries(Object.entries(seats).map(([name, seat]) => [name, map(seat)]))
}
