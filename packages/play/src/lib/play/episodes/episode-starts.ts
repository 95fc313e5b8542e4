import type { WaitingClock } from '@episodic/run/base/waiting-clock'

/** So many episodes have to wait for something before all others start without a pause. */
const MOST_WAITS = 8
/** Milliseconds of playing after which other events of this process are handled. */
const LONGEST_TURN = 10

/**
 * Decides when the next episode of this process starts, so that episodes that never wait are played one after the
 * other.
 *
 * A world in this process answers without input or output: hundreds of episodes that start together take turns at every
 * promise, and each finds its memory out of the processor's caches. Episodes of a remote world wait for their answers,
 * and start together, so that their requests share messages.
 */
export class EpisodeStarts {
  readonly #clock: Pick<WaitingClock, 'now'>
  #waits = 0
  #turned: number

  constructor(clock: Pick<WaitingClock, 'now'>) {
    this.#clock = clock
    this.#turned = clock.now()
  }

  /**
   * Resolves when the next episode may start: after the `played` one, unless it or others of the process had to wait.
   */
  async untilNext(played: Promise<void>): Promise<void> {
    if (this.#waits >= MOST_WAITS) return
    const next = Promise.withResolvers<void>()
    const idle = setImmediate(() => {
      this.#waits += 1
      next.resolve()
    })
    void played.then(() => {
      clearImmediate(idle)
      next.resolve()
    })
    await next.promise
    if (this.#clock.now() - this.#turned < LONGEST_TURN) return
    await new Promise((resolve) => setImmediate(resolve))
    this.#turned = this.#clock.now()
  }
}
