import { StateError } from '../state-error.ts'
import type { LogEntry, SessionStore, StoredProgress, StoredSession } from './session-store.ts'

/** Creates a store that keeps sessions in memory, until it is disposed of or the process ends. */
export function createMemoryStore(): SessionStore {
  return new MemoryStore()
}

class MemoryStore implements SessionStore {
  #sessions = new Map<string, { session: StoredSession; log: LogEntry[] }>()
  #secret = crypto.getRandomValues(new Uint8Array(32))
  #disposed = false

  async secret(): Promise<Uint8Array> {
    this.#assertOpen()
    return this.#secret.slice()
  }

  async create(session: StoredSession): Promise<boolean> {
    this.#assertOpen()
    if (this.#sessions.has(session.id)) return false
    this.#sessions.set(session.id, { session: { ...session }, log: [] })
    return true
  }

  async read(id: string): Promise<StoredSession | null> {
    this.#assertOpen()
    const kept = this.#sessions.get(id)
    return kept ? { ...kept.session } : null
  }

  async commit(
    next: StoredProgress,
    expected: { readonly revision: number; readonly epoch: number },
    entry?: LogEntry,
  ): Promise<boolean> {
    this.#assertOpen()
    const kept = this.#sessions.get(next.id)
    if (kept?.session.revision !== expected.revision || kept.session.epoch !== expected.epoch) return false
    const { origin, base } = kept.session
    kept.session = { ...next, origin, base }
    if (entry) kept.log.push({ ...entry })
    return true
  }

  async checkWritable(): Promise<void> {
    this.#assertOpen()
  }

  async remove(id: string): Promise<boolean> {
    this.#assertOpen()
    return this.#sessions.delete(id)
  }

  async readLog(id: string, range: { readonly after: number; readonly limit: number }): Promise<LogEntry[]> {
    this.#assertOpen()
    const log = this.#sessions.get(id)?.log ?? []
    return log
      .slice(firstAfter(log, range.after))
      .slice(0, range.limit)
      .map((entry) => ({ ...entry }))
  }

  async list(page: { readonly after?: string | undefined; readonly limit: number }): Promise<StoredSession[]> {
    this.#assertOpen()
    const { after } = page
    return [...this.#sessions.keys()]
      .filter((id) => after === undefined || id > after)
      .sort()
      .slice(0, page.limit)
      .map((id) => ({ ...(this.#sessions.get(id) as { session: StoredSession }).session }))
  }

  async idle(query: { readonly before: number; readonly limit: number }): Promise<string[]> {
    this.#assertOpen()
    const found: StoredSession[] = []
    for (const { session } of this.#sessions.values()) if (session.touchedAt < query.before) found.push(session)
    return found
      .sort((a, b) => a.touchedAt - b.touchedAt || (a.id < b.id ? -1 : 1))
      .slice(0, query.limit)
      .map(({ id }) => id)
  }

  async count(): Promise<number> {
    this.#assertOpen()
    return this.#sessions.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    this.#sessions.clear()
  }

  #assertOpen(): void {
    if (this.#disposed) throw new StateError('store-unavailable', 'The memory store is closed.')
  }
}

/** Returns the index of the first entry after `revision`; the log is sorted by revision. */
function firstAfter(log: readonly LogEntry[], revision: number): number {
  let low = 0
  let high = log.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((log[middle] as LogEntry).revision <= revision) low = middle + 1
    else high = middle
  }
  return low
}
