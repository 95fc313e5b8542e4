import { WireError } from '@episodic/protocol'
import { invalidParams } from '@episodic/protocol/internal'
import type { SessionRecord } from '@episodic/state'
import { isEndUnreported } from '@episodic/state/internal'
import { type Absence, absenceAction } from '../../environment/definition/absent-action.ts'
import type { EnvironmentDefinition } from '../../environment/definition/environment.ts'
import type { StepCall } from '../host.ts'
import type { CachedSession } from '../sessions/session-cache.ts'

interface AbsentSeat {
  readonly seat: string
  readonly cause: Absence
}

/** Throws if a step must not be played on this record. Called with the record that the commit is compared with. */
export type RecordCheck = (record: SessionRecord) => void

/** Errors of an absent seat's step that mean that it has moved after all, or that another process was faster. */
const SETTLED = ['seq-conflict', 'seq-reused', 'not-your-turn', 'episode-ended'] as const

/**
 * Takes the step of every seat in turn whose time for the turn is over, or that has no steps left: nobody else waits
 * for it without end. Does nothing for a session with one seat. `step` plays a step of a seat, and throws what it
 * throws.
 *
 * The record held here may be older than the store's, in which others have moved and the turn has begun anew. So
 * whether the seat is absent is decided again on the record of the commit.
 */
export async function settleAbsent(
  { session, environment }: CachedSession,
  now: () => number,
  step: (seat: string, call: StepCall, check: RecordCheck) => Promise<unknown>,
): Promise<void> {
  const findNow = (record: SessionRecord) => findAbsent(record, environment, now())
  for (let absent = findNow(session.record); absent; absent = findNow(session.record)) {
    const { seat, cause } = absent
    const seq = session.record.seats[seat]?.seq
    const check: RecordCheck = (record) => {
      const still = findNow(record)
      if (still?.seat !== seat || still.cause !== cause)
        throw new WireError('not-your-turn', `The turn of ${seat} has begun anew: it is not absent.`)
    }
    try {
      await step(seat, { action: absenceAction(cause), seq }, check)
    } catch (error) {
      if (!SETTLED.some((code) => WireError.is(error, code))) throw error
      await session.refresh()
    }
  }
}

/** Whether the server has to take the step of a seat before another step is played on this record. */
export function isAbsent(record: SessionRecord, environment: EnvironmentDefinition, now: number): boolean {
  return findAbsent(record, environment, now) !== null
}

function findAbsent(record: SessionRecord, environment: EnvironmentDefinition, now: number): AbsentSeat | null {
  const [seat] = record.turn ?? []
  // An end that an event has made is reported by the next step, which is the server's if no player takes it.
  if (seat === undefined || (record.end && !isEndUnreported(record))) return null
  const { seats, limits, turnedAt, createdAt } = record
  const spent = environment.absent && record.turn?.find((name) => (seats[name]?.seq ?? 0) >= limits.steps)
  if (spent) return { seat: spent, cause: 'step-limit' }
  const isOverdue = limits.turnSeconds != null && now - (turnedAt ?? createdAt) >= limits.turnSeconds * 1_000
  return isOverdue ? { seat, cause: 'turn-limit' } : null
}

export function assertMayLeave({ name, absent, multiplayer }: EnvironmentDefinition): void {
  if (!absent || !multiplayer)
    throw invalidParams(
      `${name} has no rules for a seat that leaves (\`absent\`). Count the episode as failed, and close it.`,
    )
}
