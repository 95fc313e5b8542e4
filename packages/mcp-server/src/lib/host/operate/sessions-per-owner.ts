import type { SessionStore } from '@episodic/state'
import type { Principal } from '../access/caller.ts'
import { eachStored } from './scan-store.ts'

/**
 * Counts the sessions of a store by owner. Exact for what this process opens and removes; changes by other processes
 * are counted at the next `refresh`.
 */
export class Owners {
  #ownerOf = new Map<string, Principal>()
  #counts = new Map<Principal, number>()
  #loaded: Promise<void> | null = null

  /** Resolves once the store has been read for the first time. */
  loaded(store: SessionStore): Promise<void> {
    this.#loaded ??= this.refresh(store).catch((error) => {
      this.#loaded = null
      throw error
    })
    return this.#loaded
  }

  async refresh(store: SessionStore): Promise<void> {
    const before = new Set(this.#ownerOf.keys())
    const found = new Set<string>()
    for await (const { record } of eachStored(store)) {
      found.add(record.id)
      this.add(record.id, record.owner)
    }
    // A session that was opened meanwhile may precede the reader's position, so only earlier ones are removed.
    for (const id of before) if (!found.has(id)) this.remove(id)
  }

  countOf(owner: Principal): number {
    return this.#counts.get(owner) ?? 0
  }

  add(id: string, owner: Principal): void {
    if (this.#ownerOf.has(id)) return
    this.#ownerOf.set(id, owner)
    this.#counts.set(owner, this.countOf(owner) + 1)
  }

  remove(id: string): void {
    const owner = this.#ownerOf.get(id)
    if (owner === undefined) return
    this.#ownerOf.delete(id)
    const left = this.countOf(owner) - 1
    if (left > 0) this.#counts.set(owner, left)
    else this.#counts.delete(owner)
  }
}
