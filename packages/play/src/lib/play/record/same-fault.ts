import type { SealedRecord } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'

/**
 * Stops a run whose player fails in every episode with the same fault, which only a correction of the player changes.
 */
export class SameFault {
  readonly #most: number
  #fault: string | null = null
  #episodes = 0
  #isOver: boolean

  /** @param most - Episodes, counted from the first that ends, after which the run stops; 0 for never. */
  constructor(most: number) {
    this.#most = most
    this.#isOver = most === 0
  }

  /** Counts an episode that was sealed. Throws `policy-failed` at the limit. */
  add({ outcome }: SealedRecord): void {
    if (this.#isOver) return
    const message = outcome.kind === 'failed' && outcome.error.code === 'policy-failed' ? outcome.error.message : null
    // Numbers, such as those of a step or a process, differ between episodes.
    const fault = message?.replaceAll(/\d+/g, '0') ?? null
    if (fault === null || (this.#fault !== null && fault !== this.#fault)) {
      this.#isOver = true
      return
    }
    this.#fault = fault
    this.#episodes += 1
    if (this.#episodes < this.#most) return
    throw new HarnessError(
      'policy-failed',
      `The player failed in the same way in ${this.#episodes} episodes, and no episode ended otherwise, so the run stopped. ${message} Correct the player, and play again: --resume --retry-failed if its file has not changed, or a new run. With failFast 0 all episodes are played.`,
    )
  }
}
