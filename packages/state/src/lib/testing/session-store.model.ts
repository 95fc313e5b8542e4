import fc from 'fast-check'
import type { LogEntry, SessionStore, StoredSession } from '../store/session-store.ts'

/** The methods of a store whose answers depend only on the sequence of operations. */
type Answering = Pick<SessionStore, 'create' | 'read' | 'commit' | 'remove' | 'readLog' | 'list' | 'idle' | 'count'>

/** One call of a store's method, as data. */
type Operation = {
  readonly [Method in keyof Answering]: {
    readonly method: Method
    readonly args: Readonly<Parameters<Answering[Method]>>
  }
}[keyof Answering]

const anyId = fc.constantFrom('a', 'b', 'c')
const anyRevision = fc.integer({ min: 0, max: 6 })
const anyEpoch = fc.constantFrom(1, 1, 1, 2)
const anyTime = fc.integer({ min: 0, max: 5 })
const anyLimit = fc.integer({ min: 1, max: 4 })

const anySession = fc.record({
  id: anyId,
  revision: fc.constant(0),
  epoch: anyEpoch,
  touchedAt: anyTime,
  head: fc.json(),
  state: fc.json(),
})

const anyNewSession = fc
  .record({ progress: anySession, origin: fc.json(), base: fc.option(fc.json()) })
  .map(({ progress, origin, base }) => ({ ...progress, origin, base }))

const anyCommit = fc
  .tuple(anySession, anyRevision, anyEpoch, fc.integer({ min: 1, max: 40 }), fc.option(fc.json(), { nil: undefined }))
  .map(([session, expected, epoch, raise, text]): Parameters<SessionStore['commit']> => {
    // Now and then a commit raises the revision by more than one.
    const revision = expected + Math.max(1, raise - 35)
    return [{ ...session, revision }, { revision: expected, epoch }, text === undefined ? text : { revision, text }]
  })

const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: anyNewSession.map((session) => ({ method: 'create' as const, args: [session] as const })) },
  { weight: 10, arbitrary: anyCommit.map((args) => ({ method: 'commit' as const, args })) },
  { weight: 2, arbitrary: anyId.map((id) => ({ method: 'read' as const, args: [id] as const })) },
  { weight: 1, arbitrary: anyId.map((id) => ({ method: 'remove' as const, args: [id] as const })) },
  fc
    .tuple(anyId, anyRevision, anyLimit)
    .map(([id, after, limit]) => ({ method: 'readLog' as const, args: [id, { after, limit }] as const })),
  fc
    .tuple(fc.option(anyId, { nil: undefined }), anyLimit)
    .map(([after, limit]) => ({ method: 'list' as const, args: [{ after, limit }] as const })),
  fc
    .tuple(anyTime, anyLimit)
    .map(([before, limit]) => ({ method: 'idle' as const, args: [{ before, limit }] as const })),
  fc.constant({ method: 'count' as const, args: [] as const }),
)

/** Sequences that collide often: few ids, few revisions. */
export const anyOperations = fc.array(anyOperation, { minLength: 1, maxLength: 60, size: 'max' })

/** Calls the method and resolves with its answer. */
export function applyTo(store: Answering, { method, args }: Operation): Promise<unknown> {
  return (store[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
}

/** The simplest implementation of the contract: a list of sessions and a list of log entries, searched linearly. */
export function createStoreModel(): Answering {
  let sessions: StoredSession[] = []
  let log: (LogEntry & { id: string })[] = []
  const find = (id: string) => sessions.find((session) => session.id === id)
  const replace = (id: string, ...by: StoredSession[]) => {
    sessions = [...sessions.filter((session) => session.id !== id), ...by]
  }
  const byId = (a: StoredSession, b: StoredSession) => (a.id < b.id ? -1 : 1)
  return {
    async create(session) {
      if (find(session.id)) return false
      replace(session.id, session)
      return true
    },
    read: async (id) => find(id) ?? null,
    async commit(next, expected, entry) {
      const stored = find(next.id)
      if (stored?.revision !== expected.revision || stored.epoch !== expected.epoch) return false
      replace(next.id, { ...next, origin: stored.origin, base: stored.base })
      if (entry) log.push({ ...entry, id: next.id })
      return true
    },
    async remove(id) {
      const found = find(id) !== undefined
      replace(id)
      log = log.filter((entry) => entry.id !== id)
      return found
    },
    readLog: async (id, { after, limit }) =>
      log
        .filter((entry) => entry.id === id && entry.revision > after)
        .slice(0, limit)
        .map(({ revision, text }) => ({ revision, text })),
    list: async ({ after, limit }) =>
      sessions
        .toSorted(byId)
        .filter(({ id }) => after === undefined || id > after)
        .slice(0, limit),
    idle: async ({ before, limit }) =>
      sessions
        .filter(({ touchedAt }) => touchedAt < before)
        .toSorted((a, b) => a.touchedAt - b.touchedAt || byId(a, b))
        .slice(0, limit)
        .map(({ id }) => id),
    count: async () => sessions.length,
  }
}
