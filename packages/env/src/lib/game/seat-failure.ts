import type { ModelAnswer } from '../policy/policy.ts'

/** A failure of a match that names the seat whose policy, player or action it was. */
export class SeatFailure extends Error {
  readonly seat: string
  /** Answers of a language model since the last step of the seat. */
  readonly undecided: readonly ModelAnswer[]

  constructor(seat: string, cause: unknown, undecided: readonly ModelAnswer[] = []) {
    super(`Seat ${seat} failed.`, { cause })
    this.seat = seat
    this.undecided = undecided
  }
}
