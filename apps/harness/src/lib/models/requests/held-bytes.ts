/** Bytes of a body up to which it is held at once: hundreds of these cost little. */
export const SMALL = 1_048_576

/** A part of the bytes that may be held. Disposing lets go of it. */
export interface HeldPart extends Disposable {
  /** Lets go of what is beyond so many bytes. */
  shrink(bytes: number): void
}

/** Bounds the bytes of large bodies that are held at once. Others wait, unread. */
export class HeldBytes {
  readonly #most: number
  readonly #all: HeldBytes | null
  readonly #waiting: (() => void)[] = []
  #held = 0

  /** @param all - Bounds more than this one does, and these bytes too. Default: none does. */
  constructor(most: number, all: HeldBytes | null = null) {
    this.#most = most
    this.#all = all
  }

  /** Resolves when there is room for a body, with what lets go of it. A body alone always has room. */
  async take(bytes: number): Promise<HeldPart> {
    let size = sizeOf(bytes)
    while (size > 0 && this.#held > 0 && this.#held + size > this.#most)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#held += size
    const ofAll = await this.#all?.take(bytes)
    const shrink = (to: number) => {
      ofAll?.shrink(to)
      const left = Math.min(size, sizeOf(to))
      this.#held -= size - left
      size = left
      for (const go of this.#waiting.splice(0)) go()
    }
    return { shrink, [Symbol.dispose]: () => shrink(0) }
  }
}

function sizeOf(bytes: number): number {
  return bytes <= SMALL ? 0 : bytes
}
