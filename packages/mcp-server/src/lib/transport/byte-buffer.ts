/**
 * Joins bytes that arrive in pieces.
 *
 * A single piece is kept without a copy: nearly every message is one. Further pieces are copied as they arrive, because
 * a million pieces of one byte would take a hundred times the memory, and a long turn to join.
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

  /** Returns the text and clears the buffer. Throws a `TypeError` if the bytes are not UTF-8. */
  takeText(): string {
    return utf8.decode(this.take())
  }

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
/** Throws a `TypeError` for bytes that are not UTF-8. */
export const utf8 = new TextDecoder('utf-8', { fatal: true })
