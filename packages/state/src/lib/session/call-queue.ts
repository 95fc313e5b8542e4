import { StateError } from '../state-error.ts'

/** Runs calls one at a time, in the order of their arrival, and turns away what would make the queue too long. */
export class CallQueue {
  readonly #limit: number
  #running = false
  /** Begins the calls that wait, in their order; `null` until one had to, as in nearly every session. */
  #waiting: (() => void)[] | null = null

  /** `limit` is how many calls may be there at once, the running one included. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether a call is running or waiting. */
  get busy(): boolean {
    return this.#running
  }

  /**
   * Runs `call` after those before it, whatever came of them, and at once where there are none: a turn of promises
   * costs as much as a short call. Rejects with `queue-full` where there is no room.
   */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running) await this.#turn()
    this.#running = true
    try {
      return await call()
    } finally {
      const next = this.#waiting?.shift()
      // The next waiting call runs before a new one.
      if (next) next()
      else this.#running = false
    }
  }

  #turn(): Promise<void> {
    this.#waiting ??= []
    const count = this.#waiting.length + 1
    if (count >= this.#limit)
      throw new StateError('queue-full', `${count} calls wait for this session already. Wait for their answers first.`)
    return new Promise((begin) => this.#waiting?.push(begin))
  }
}
