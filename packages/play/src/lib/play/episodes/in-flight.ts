/** How many planned episodes may be in flight at once. It may change while a run is played. */
export class InFlight {
  #count: number
  readonly #listeners = new Set<() => void>()

  /** @param count - at least 1. */
  constructor(count: number) {
    this.#count = count
  }

  get count(): number {
    return this.#count
  }

  set count(count: number) {
    if (count === this.#count) return
    this.#count = count
    for (const listener of this.#listeners) listener()
  }

  /** Calls `listener` after each change. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }
}
