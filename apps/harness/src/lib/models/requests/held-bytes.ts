/** Bytes of a body up to which it is held at once: hundreds of these cost little. */
const SMALL = 1_048_576

/** Bounds the bytes of large bodies that are held at once. Others wait, unread. */
export class HeldBytes {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #held = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Resolves when there is room for a body, with what lets go of it. A body alone always has room. */
  async take(bytes: number): Promise<Disposable> {
    const size = bytes <= SMALL ? 0 : bytes
    while (size > 0 && this.#held > 0 && this.#held + size > this.#most)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#held += size
    return {
      [Symbol.dispose]: () => {
        this.#held -= size
        for (const go of this.#waiting.splice(0)) go()
      },
    }
  }
}
