import { StateError } from './state-error.ts'

/** Runs calls one at a time, in the order of their arrival, and turns away what would make the queue too long. */
export class CallQueue {
  readonly #limit: number
  #tail: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** `limit` is how many calls may be there at once, the running one included. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether a call is running or waiting. */
  get busy(): boolean {
    return this.#waiting > 0
  }

  /** Runs `call` after those before it, whatever came of them. Rejects with `queue-full` where there is no room. */
  run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#limit)
      return Promise.reject(
        new StateError(
          'queue-full',
          `${this.#waiting} calls wait for this session already. Wait for their answers first.`,
        ),
      )
    this.#waiting += 1
    const result = this.#tail.then(call)
    const done = () => {
      this.#waiting -= 1
    }
    this.#tail = result.then(done, done)
    return result
  }
}
