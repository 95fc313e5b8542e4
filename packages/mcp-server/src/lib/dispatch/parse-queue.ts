import { afterThisTurn } from '@episodic/protocol/extend'

/** ParseQueue of the event loop for those who need a long one: one each, in order, so that what is short is held up by one alone. */
export class ParseQueue {
  #last: Promise<void> = Promise.resolve()

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise(afterThisTurn))
    return this.#last
  }
}
