import { WireError } from '@episodic/protocol'
import type { SessionRecord } from '@episodic/state'
import { type Absence, absenceAction } from '../environment/absence.ts'
import type { EnvironmentDefinition } from '../environment/environment.ts'
import type { StepCall } from './host.ts'
import type { CachedSession } from './session-cache.ts'

/** A seat in turn that does not act. */
interface AbsentSeat {
  readonly seat: string
  readonly cause: Absence
}

/** Errors of a step for an absent seat that mean that the seat has moved after all, or that another process was faster. */
const SETTLED = ['seq-conflict', 'seq-reused', 'not-your-turn', 'episode-ended'] as const

/**
 * Takes the step of every seat in turn whose time for the turn is over, or that has no steps left: nobody else waits for
 * it without end. Does nothing for a session with one seat. `step` plays a step of a seat, and throws what it throws.
 */
export async function settleAbsent(
  cached: CachedSession,
  now: () => number,
  step: (seat: string, call: StepCall) => Promise<unknown>,
): Promise<void> {
  for (let absent = findAbsent(cached, now()); absent; absent = findAbsent(cached, now())) {
    const { seat, cause } = absent
    const seq = cached.session.record.seats[seat]?.seq
    try {
      await step(seat, { action: absenceAction(cause), seq })
    } catch (error) {
      if (!SETTLED.some((code) => WireError.is(error, code))) throw error
      await cached.session.refresh()
    }
  }
}

function findAbsent({ session, environment }: CachedSession, now: number): AbsentSeat | null {
  const { record } = session
  const [seat] = record.turn ?? []
  if (seat === undefined || record.end) return null
  const spent = environment.game?.absent && record.turn?.find((name) => isSpent(record, name))
  if (spent) return { seat: spent, cause: 'step-limit' }
  return isOverdue(record, now) ? { seat, cause: 'turn-limit' } : null
}

function isSpent({ seats, limits }: SessionRecord, seat: string): boolean {
  return (seats[seat]?.seq ?? 0) >= limits.steps
}

function isOverdue({ limits, turnedAt, createdAt }: SessionRecord, now: number): boolean {
  return limits.turnSeconds != null && now - (turnedAt ?? createdAt) >= limits.turnSeconds * 1_000
}

/** Throws `invalid-params` for an environment whose rules do not say what happens when a seat leaves. */
export function assertMayLeave({ name, game }: EnvironmentDefinition): void {
  if (!game?.absent)
    throw new WireError(
      'invalid-params',
      `${name} has no rules for a seat that leaves (\`absent\`). Count the episode as failed, and close it.`,
    )
}
