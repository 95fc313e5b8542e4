import type { ConversationRecord, ConversationStep, GoalView } from '@episodic/contexts'
import { booking, type Trip } from './booking.ts'
import { accuracyOf, answered, type Goal, isWanted } from './goal.ts'

// Only the record is judged: the booking, not the words.

type View = GoalView<Goal, unknown>

/** Returns the last booked flight; `null` if there is none. */
export function bookedTrip(record: ConversationRecord): Trip | null {
  return booking.closed(record).findLast(({ how }) => how === 'finished')?.result ?? null
}

/** Whether the right flight is booked and every question was answered. */
export function isReached({ record, goal }: View): boolean {
  const trip = bookedTrip(record)
  return trip !== null && isWanted(goal, trip) && answered(goal, record).length === goal.digressions.length
}

/** The share of the goal's slots that are right in the booking, from 0 to 1. */
export function accuracy({ record, goal }: View): number {
  return accuracyOf(goal, bookedTrip(record) ?? booking.find(record)?.data ?? {})
}

/** The share of the goal's questions that were answered, from 0 to 1; 1 if there are none. */
export function digressions({ record, goal }: View): number {
  return goal.digressions.length === 0 ? 1 : answered(goal, record).length / goal.digressions.length
}

/** More than the other terms of an episode can sum to without success. */
const IN_VAIN = -2

/** The penalty for ending the conversation without the goal. */
export function inVain({ after, end }: ConversationStep<Goal, unknown>): number {
  return end?.kind === 'terminated' && !isReached(after) ? IN_VAIN : 0
}
