/** Where a thing stands on a roll. */
interface Place<T> {
  readonly thing: T
  index: number
}

/**
 * Who is there now, in no order, where many come and go.
 *
 * A `Set` would do the same and cost more than all else that is done for a call: as it fills with what was deleted it is
 * made anew, each old one keeps what was in it, and once one has grown old, its successors and all that they hold are
 * collected as what is old is, which is late and dear.
 */
export class ActiveSet<T> implements Iterable<T> {
  readonly #places: Place<T>[] = []

  get size(): number {
    return this.#places.length
  }

  /** Puts a thing on the roll. The returned function takes it off, and is to be called once. */
  enter(thing: T): () => void {
    const place = { thing, index: this.#places.length }
    this.#places.push(place)
    return () => this.#leave(place)
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const { thing } of this.#places) yield thing
  }

  /** Whoever stands last takes the place that becomes free. */
  #leave(place: Place<T>): void {
    const last = this.#places.pop()
    if (!last || last === place) return
    this.#places[place.index] = last
    last.index = place.index
  }
}
