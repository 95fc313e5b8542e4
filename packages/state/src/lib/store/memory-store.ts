import { StateError } from '../state-error.ts'
import { pagesMissing } from './pages-missing.ts'
import type { LogEntry, SessionStore, StoredPage, StoredProgress, StoredSession } from './session-store.ts'

/** Creates a store that keeps sessions in memory, until it is disposed of or the process ends. */
export function createMemoryStore(): SessionStore {
  const sessions = new Map<string, Kept>()
  const poolsByName = new Map<string, Pool>()
  let held: ReadonlySet<string> = new Set()
  const ownSecret = crypto.getRandomValues(new Uint8Array(32))
  let disposed = false
  return {
    async secret() {
      assertOpen()
      return ownSecret.slice()
    },
    async create(session, shared, own = []) {
      assertOpen()
      const { origin, base, pool, pools, ...progress } = session
      const { id } = progress
      if (sessions.has(id)) return false
      const missing = pools.find((name) => !poolsByName.has(name) && name !== shared?.pool)
      if (missing !== undefined) throw pagesMissing(id, missing)
      const kept: Kept = { progress, fixed: { origin, base, pool, pools }, log: [], uses: [] }
      sessions.set(id, kept)
      if (pools.length === 0 && own.length === 0) return true
      for (const name of pools) {
        const isNew = !poolsByName.has(name)
        const { pages } = use(name, kept)
        if (isNew) addPages(pages, shared?.pages ?? [])
      }
      addPages(use(pool, kept).pages, own)
      return true
    },
    async read(id) {
      assertOpen()
      const kept = sessions.get(id)
      return kept ? sessionOf(kept) : null
    },
    commit(next, expected, entry, pages = []) {
      if (disposed) return Promise.reject(closed())
      const kept = sessions.get(next.id)
      if (kept?.progress.revision !== expected.revision || kept.progress.epoch !== expected.epoch) return false
      kept.progress = next
      if (entry) kept.log.push({ ...entry })
      if (pages.length > 0) addPages(use(kept.fixed.pool, kept).pages, pages)
      return true
    },
    async checkWritable() {
      assertOpen()
    },
    async remove(id) {
      assertOpen()
      const kept = sessions.get(id)
      if (!kept) return false
      sessions.delete(id)
      for (const name of kept.uses) {
        poolsByName.get(name)?.users.delete(id)
        removeUnused(name)
      }
      return true
    },
    async readLog(id, range) {
      assertOpen()
      const log = sessions.get(id)?.log ?? []
      return log
        .slice(firstAfter(log, range.after))
        .slice(0, range.limit)
        .map((entry) => ({ ...entry }))
    },
    async list(page) {
      assertOpen()
      const { after } = page
      return [...sessions.keys()]
        .filter((id) => after === undefined || id > after)
        .sort()
        .slice(0, page.limit)
        .map((id) => sessionOf(sessions.get(id) as Kept))
    },
    async idle(query) {
      assertOpen()
      const found: StoredProgress[] = []
      for (const { progress } of sessions.values()) if (progress.touchedAt < query.before) found.push(progress)
      return found
        .sort((a, b) => a.touchedAt - b.touchedAt || (a.id < b.id ? -1 : 1))
        .slice(0, query.limit)
        .map(({ id }) => id)
    },
    async count() {
      assertOpen()
      return sessions.size
    },
    async readPages(id, names) {
      assertOpen()
      const kept = sessions.get(id)
      const used = kept ? [kept.fixed.pool, ...kept.fixed.pools] : []
      const pools = used.flatMap((name) => poolsByName.get(name) ?? [])
      return names.map((name) => pools.find(({ pages }) => pages.has(name))?.pages.get(name) ?? null)
    },
    async hold(pools) {
      assertOpen()
      const before = held
      held = new Set(pools.filter((name) => poolsByName.has(name)))
      for (const name of before) removeUnused(name)
    },
    async countPages() {
      assertOpen()
      let count = 0
      for (const [name, { pages, users }] of poolsByName) if (users.size > 0 || !held.has(name)) count += pages.size
      return count
    },
    async [Symbol.asyncDispose]() {
      disposed = true
      sessions.clear()
      poolsByName.clear()
    },
  }

  function use(name: string, kept: Kept): Pool {
    const pool = poolsByName.get(name) ?? { pages: new Map(), users: new Set() }
    poolsByName.set(name, pool)
    const { id } = kept.progress
    if (pool.users.has(id)) return pool
    pool.users.add(id)
    kept.uses = [...kept.uses, name]
    return pool
  }

  function removeUnused(name: string): void {
    if (poolsByName.get(name)?.users.size === 0 && !held.has(name)) poolsByName.delete(name)
  }

  function assertOpen(): void {
    if (disposed) throw closed()
  }
}

function sessionOf({ progress, fixed }: Kept): StoredSession {
  const { id, revision, epoch, touchedAt, head, state } = progress
  return { id, revision, epoch, touchedAt, head, state, ...fixed }
}

function closed(): StateError {
  return new StateError('store-unavailable', 'The memory store is closed.')
}

function addPages(to: Map<string, string>, pages: readonly StoredPage[]): void {
  for (const { name, text } of pages) if (!to.has(name)) to.set(name, text)
}

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

interface Kept {
  progress: StoredProgress
  readonly fixed: Omit<StoredSession, keyof StoredProgress>
  readonly log: LogEntry[]
  uses: readonly string[]
}

interface Pool {
  readonly pages: Map<string, string>
  readonly users: Set<string>
}
