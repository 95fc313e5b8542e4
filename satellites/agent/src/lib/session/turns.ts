import { abortable } from '@episodic/protocol/internal'

/** A queue: runs one operation at a time, in call order. */
export class Turns {
  readonly #capacity: number
  readonly #full: (waiting: number) => Error
  #tail: Promise<void> | null = null
  #waiting = 0

  /** `full` returns the error for a call while `capacity` are waiting. */
  constructor(capacity: number, full: (waiting: number) => Error) {
    this.#capacity = capacity
    this.#full = full
  }

  /** Runs `work` after all earlier calls. Rejects with the signal's reason if that comes first. */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    const end = this.#tail ? await this.take(signal) : this.#join(null)
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** Waits for a turn, and resolves with the function that ends it. */
  async take(signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted()
    const before = this.#tail
    if (before && this.#waiting >= this.#capacity) throw this.#full(this.#waiting)
    const end = this.#join(before)
    try {
      if (before) await this.#wait(before, signal)
      return end
    } catch (reason) {
      end()
      throw reason
    }
  }

  #join(before: Promise<void> | null): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    // An aborted turn stays in the queue: the next one waits for those before it.
    const turn = before ? before.then(() => promise) : promise
    this.#tail = turn
    return () => {
      resolve()
      if (this.#tail === turn) this.#tail = null
    }
  }

  async #wait(before: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    this.#waiting++
    try {
      await abortable(before, signal)
    } finally {
      this.#waiting--
    }
  }
}
