import { afterThisTurn } from '@episodic/protocol/internal'

/**
 * Grants long parses one turn of the event loop each, in order, so that short messages wait for one of them at most.
 */
export class ParseQueue {
  #last: Promise<void> = Promise.resolve()

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise(afterThisTurn))
    return this.#last
  }
}
