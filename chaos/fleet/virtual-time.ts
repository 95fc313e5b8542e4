/** Time in whole milliseconds, which passes as soon as nothing is left to be done at the moment. */
export class VirtualTime {
  #now = 0
  #left = 0
  readonly #due = new Map<number, (() => void)[]>()

  now(): number {
    return this.#now
  }

  /** Does something after so many milliseconds, which are rounded up; 0 is after what is done at the moment. */
  after(milliseconds: number, action: () => void): void {
    const at = this.#now + Math.max(0, Math.ceil(milliseconds))
    const due = this.#due.get(at)
    if (due) due.push(action)
    else this.#due.set(at, [action])
    this.#left += 1
  }

  /** Lets time pass until the promise settles, and resolves with its value. Rejects if nothing would ever settle it. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let isOver = false
    const end = () => {
      isOver = true
    }
    promise.then(end, end)
    for (;;) {
      // Promises are followed to their end before time goes on.
      await new Promise((resolve) => setImmediate(resolve))
      if (isOver) return promise
      const due = this.#due.get(this.#now)
      if (due) {
        this.#due.delete(this.#now)
        this.#left -= due.length
        for (const action of due) action()
      } else if (this.#left === 0) throw new Error('Nothing is left to be done, and the simulation is not over.')
      else while (!this.#due.has(this.#now)) this.#now += 1
    }
  }
}
