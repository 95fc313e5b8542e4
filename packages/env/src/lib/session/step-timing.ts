/**
 * Receives the milliseconds from sending a step to its answer, retries included, and those of them that the server
 * took.
 */
export type OnStepTimed = (times: { readonly roundTrip: number; readonly server: number }) => void

/** One step of so many is timed, so that it costs a run next to nothing. */
const EVERY = 16

/** Chooses the steps of a connection that are timed: the first, and each 16th after it, whatever the episode. */
export class StepTiming {
  readonly onStepTimed: OnStepTimed
  #steps = 0

  constructor(onStepTimed: OnStepTimed) {
    this.onStepTimed = onStepTimed
  }

  isNext(): boolean {
    return this.#steps++ % EVERY === 0
  }
}
