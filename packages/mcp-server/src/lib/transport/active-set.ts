/** An item and its place in the array. */
interface Place<T> {
  readonly item: T
  index: number
}

/**
 * The items that are active now, in no order, for many short-lived items.
 *
 * A `Set` would cost more than the rest of a call: as deletions fill it, V8 replaces its table, and an old table keeps
 * its items. Once one of them is in the old generation, the later tables and their items are promoted too, and
 * collecting them is late and expensive.
 */
export class ActiveSet<T> implements Iterable<T> {
  readonly #places: Place<T>[] = []

  get size(): number {
    return this.#places.length
  }

  /** Adds an item. The returned function removes it, and has to be called once. */
  enter(item: T): () => void {
    const place = { item, index: this.#places.length }
    this.#places.push(place)
    return () => this.#leave(place)
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const { item } of this.#places) yield item
  }

  /** Moves the last item to the place that becomes free. */
  #leave(place: Place<T>): void {
    const last = this.#places.pop()
    if (!last || last === place) return
    this.#places[place.index] = last
    last.index = place.index
  }
}
