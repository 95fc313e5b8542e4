import { WireError } from '@episodic/protocol'
import type { SessionStore } from '@episodic/state'
import type { Principal } from '../access/caller.ts'
import type { HostBounds } from '../host.ts'
import { eachStored } from './list-sessions.ts'

export type Capacity = ReturnType<typeof createCapacity>

/**
 * Enforces the host's bounds on sessions: on all together, and on those of one principal. An open beyond a bound is
 * rejected with `capacity`; no open ends another session.
 *
 * Both bounds are exact for the opens of one process. Processes that share a store may exceed the first by the opens
 * that they have in flight at the same time, and count each other's sessions for the second at the next sweep.
 */
export function createCapacity(store: SessionStore, bounds: HostBounds) {
  const owners = new Owners()
  let creating = 0
  /** The last creation that was begun; those before it follow. */
  let last: Creation | null = null
  return {
    /**
     * Runs `create` if there is room for all of these sessions of one owner; otherwise rejects with `capacity`. Must
     * not be called twice at the same time for one id.
     */
    async admit<T>(ids: readonly string[], owner: Principal, create: () => Promise<T>): Promise<T> {
      const ahead = creating
      creating += ids.length
      const creation = new Creation(last)
      last = creation
      try {
        if (hasQuota()) await takePlaces(ids, owner)
        try {
          await assertRoom(ahead + ids.length, creation, ids.length)
          return await create()
        } catch (error) {
          for (const id of ids) owners.remove(id)
          throw error
        }
      } finally {
        creating -= ids.length
        creation.leave()
        if (last === creation) last = creation.before
      }
    },
    removed(id: string): void {
      owners.remove(id)
    },
    async refresh(): Promise<void> {
      if (hasQuota()) await owners.refresh(store)
    },
  }

  function hasQuota(): boolean {
    return bounds.sessionsPerPrincipal < bounds.sessions
  }

  async function takePlaces(ids: readonly string[], owner: Principal): Promise<void> {
    await owners.loaded(store)
    const { sessionsPerPrincipal: quota } = bounds
    const has = owners.countOf(owner)
    if (has + ids.length > quota)
      throw refusal(
        `You have ${has} of the ${quota} sessions that one principal may have, and ${ids.length} more were asked for.`,
      )
    for (const id of ids) owners.add(id, owner)
  }

  async function assertRoom(creating: number, creation: Creation, own: number): Promise<void> {
    const { sessions } = bounds
    if ((await store.count()) + creating <= sessions) return
    // Earlier creations may be counted twice by now, and some may fail: near the bound, wait for them and count again.
    await creation.alone()
    const left = sessions - (await store.count())
    if (left >= own) return
    throw refusal(
      left > 0
        ? `Of ${sessions} sessions, ${left} are free, and ${own} were asked for.`
        : `All ${sessions} sessions are in use.`,
    )
  }

  function refusal(why: string): WireError {
    return new WireError('capacity', `${why} Close one, or try again later.`, {
      details: { retryAfterSeconds: Math.min(30, bounds.idleSeconds) },
    })
  }
}

/** A creation of sessions that is not over, in a list of all of them, in the order in which they began. */
class Creation {
  before: Creation | null
  #after: Creation | null = null
  #waiting: (() => void)[] | null = null

  constructor(before: Creation | null) {
    this.before = before
    if (before) before.#after = this
  }

  async alone(): Promise<void> {
    while (this.before) {
      const { before } = this
      await new Promise<void>((resolve) => {
        before.#waiting ??= []
        before.#waiting.push(resolve)
      })
    }
  }

  leave(): void {
    if (this.before) this.before.#after = this.#after
    if (this.#after) this.#after.before = this.before
    for (const resolve of this.#waiting ?? []) resolve()
  }
}

/** Counts sessions by owner. Exact for this process; changes by others are counted at the next `refresh`. */
class Owners {
  #ownerOf = new Map<string, Principal>()
  #counts = new Map<Principal, number>()
  #loaded: Promise<void> | null = null

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
