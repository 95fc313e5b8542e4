/** Lets episodes be played together, and now and then one without any other beside it. */
export class PlayAlone {
  #together = 0
  #isAlone = false
  /** Those that want to be alone, the first of them first. */
  readonly #waiting: (() => void)[] = []
  #changed = Promise.withResolvers<void>()

  /** Waits until no one is alone or waits for it. Disposing the place leaves it. */
  async enter(): Promise<Disposable> {
    while (this.#isAlone || this.#waiting.length > 0) await this.#changed.promise
    this.#together += 1
    return this.#leave(() => {
      this.#together -= 1
    })
  }

  /** Waits until all others have left. */
  async enterAlone(): Promise<Disposable> {
    const turn = Promise.withResolvers<void>()
    this.#waiting.push(turn.resolve)
    this.#next()
    await turn.promise
    return this.#leave(() => {
      this.#isAlone = false
    })
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
    if (!this.#isAlone && this.#together === 0) {
      const first = this.#waiting.shift()
      if (first) {
        this.#isAlone = true
        first()
      }
    }
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
