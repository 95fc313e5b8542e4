import type { EpisodeRecord } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'

/** So many episodes in a row that a model's server refused for good stop a run. */
const MOST_REFUSALS = 5

/**
 * Holds back the episodes that the server of a language model refused for good (a wrong key, no such model), until it is
 * clear whether it refuses all or only these.
 */
export class Refusals {
  readonly #patience: number
  /** Refused episodes, the earliest first, each with how many had been answered by then. */
  readonly #held: { readonly records: readonly EpisodeRecord[]; readonly answered: number }[] = []
  #answered = 0
  #inRow = 0

  /** @param patience - answered episodes after which a refused one was refused for itself: more than were in flight with it. */
  constructor({ patience }: { readonly patience: number }) {
    this.#patience = patience
  }

  /** Holds a refused episode. Throws `model-refused` where as many in a row were refused as stop a run. */
  refused(records: readonly EpisodeRecord[]): void {
    this.#held.push({ records, answered: this.#answered })
    this.#inRow += 1
    if (this.#inRow >= MOST_REFUSALS) throw this.#failure(records)
  }

  /** Counts an episode that was not refused, and gives those held that were refused for themselves. */
  answered(): (readonly EpisodeRecord[])[] {
    this.#answered += 1
    this.#inRow = 0
    const since = this.#held.findIndex(({ answered }) => this.#answered - answered < this.#patience)
    return this.#held.splice(0, since < 0 ? this.#held.length : since).map(({ records }) => records)
  }

  /** Gives what is still held at the end of a plan. Throws `model-refused` where nothing was answered. */
  finish(): (readonly EpisodeRecord[])[] {
    const [last] = this.#held.slice(-1)
    if (last && this.#answered === 0) throw this.#failure(last.records)
    return this.#held.splice(0).map(({ records }) => records)
  }

  #failure([record]: readonly EpisodeRecord[]): HarnessError {
    const message = record?.outcome.kind === 'failed' ? record.outcome.error.message : ''
    const times = this.#inRow === 1 ? 'The episode' : `${this.#inRow} episodes in a row`
    return new HarnessError(
      'model-refused',
      `${times} failed with a refusal that trying again does not change, so the run stopped and did not seal them. ${message} Then resume the run.`,
    )
  }
}
