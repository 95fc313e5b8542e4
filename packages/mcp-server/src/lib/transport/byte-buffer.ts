/**
 * Bytes that come in pieces and are wanted whole in the end.
 *
 * One piece is kept as it is, which is what nearly every message comes in. More are copied together as they come: a
 * million pieces of a byte each would take a hundred times the memory, and a long turn to join.
 */
export class GatheredBytes {
  #bytes: Buffer = EMPTY
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length
    if (this.#length === 0) this.#bytes = piece
    else {
      if (length > this.#bytes.length) this.#grow(length)
      piece.copy(this.#bytes, this.#length)
    }
    this.#length = length
  }

  /** Gives the text and starts anew. Throws a `TypeError` for what is not UTF-8. */
  takeText(): string {
    return decodeText(this.take())
  }

  /** Gives the bytes and starts anew. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.clear()
    return bytes
  }

  clear(): void {
    this.#bytes = EMPTY
    this.#length = 0
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#length))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

const EMPTY = Buffer.alloc(0)
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text that bytes are in UTF-8. Throws a `TypeError` where they are not. */
export function decodeText(bytes: Uint8Array): string {
  return utf8.decode(bytes)
}
