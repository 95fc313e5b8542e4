export class Quarantine {
  #together = 0
  #isAlone = false
  /** Lets the one that waits to be alone go on. */
  #waiting: (() => void) | null = null
  #changed = Promise.withResolvers<void>()

  /** Waits until no one is alone or waits for it. Disposing the place leaves it. */
  async enter(): Promise<Disposable> {
    while (this.#isAlone || this.#waiting) await this.#changed.promise
    this.#together += 1
    return this.#leave(() => {
      this.#together -= 1
    })
  }

  /** Waits until all others have left. Returns `null` if another is alone or waits for it. */
  enterAlone(): Promise<Disposable> | null {
    if (this.#isAlone || this.#waiting) return null
    const turn = Promise.withResolvers<void>()
    this.#waiting = turn.resolve
    this.#next()
    return turn.promise.then(() =>
      this.#leave(() => {
        this.#isAlone = false
      }),
    )
  }

  #leave(change: () => void): Disposable {
    let isOver = false
    return {
      [Symbol.dispose]: () => {
        if (isOver) return
        isOver = true
        change()
        this.#next()
      },
    }
  }

  #next(): void {
    if (this.#waiting && this.#together === 0) {
      this.#isAlone = true
      this.#waiting()
      this.#waiting = null
    }
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
