/** What has changed since it was last written to disk, as a store keeps that syncs its log once a second. */
export class Journal {
  #changes: {
    readonly map: Map<unknown, unknown>
    readonly key: unknown
    readonly had: boolean
    readonly value: unknown
  }[] = []

  /** Notes what a key of a map is before it changes. */
  note<K, V>(map: Map<K, V>, key: K): void {
    this.#changes.push({ map, key, had: map.has(key), value: map.get(key) })
  }

  /** Forgets the changes: they are on disk. */
  sync(): void {
    this.#changes = []
  }

  /** Undoes every change since the last {@link sync}. */
  rollBack(): void {
    const changes = this.#changes
    // What is undone is not noted.
    this.#changes = []
    for (const { map, key, had, value } of changes.reverse()) {
      if (had) Map.prototype.set.call(map, key, value)
      else Map.prototype.delete.call(map, key)
    }
  }
}

/** A map whose changes a journal notes. Its values are never changed in place. */
export class JournaledMap<K, V> extends Map<K, V> {
  readonly #journal: Journal

  constructor(journal: Journal) {
    super()
    this.#journal = journal
  }

  override set(key: K, value: V): this {
    this.#journal.note(this, key)
    return super.set(key, value)
  }

  override delete(key: K): boolean {
    this.#journal.note(this, key)
    return super.delete(key)
  }
}
