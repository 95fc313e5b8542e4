import type { Observation } from '@episodic/protocol'
import type { PolicyContext } from '../policy/policy.ts'

export interface SeatAssignment {
  readonly context: PolicyContext
  /** For the session URL of the seat; a secret. */
  readonly capability: string
  readonly observation: Observation
  /** Aborts when the episode of the seat is over, or the match has failed. */
  readonly signal: AbortSignal
}

/**
 * Plays a seat at its session URL with a loop of its own: an agent, or a person. It earns and ends as any other, and
 * its steps are read from the step log of the session.
 */
export interface OutsidePlayer {
  readonly name: string
  /** Plays until the episode of the seat is over, or until it stops. An error that it throws before fails the match. */
  playSeat(assignment: SeatAssignment): Promise<void>
}
