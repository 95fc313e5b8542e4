import fc from 'fast-check'
import { StateError } from '../state-error.ts'
import { pagesMissing } from '../store/pages-missing.ts'
import type { LogEntry, SessionStore, StoredPage, StoredSession } from '../store/session-store.ts'
import { namesOf, pagesOf } from './session-store.samples.ts'

/** The methods of a store whose answers depend only on the sequence of operations. */
type Answering = Omit<SessionStore, 'secret' | 'checkWritable' | typeof Symbol.asyncDispose>

type Operation = {
  readonly [Method in keyof Answering]: {
    readonly method: Method
    readonly args: Readonly<Parameters<Answering[Method]>>
  }
}[keyof Answering]

const anyId = fc.constantFrom('a', 'b', 'c')
const anyRevision = fc.integer({ min: 0, max: 6 })
/** Most sessions are young. */
const anyExpected = fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 4)
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

const TEXTS = ['1', '2', '3', '4', '5']
const anyPages = fc.subarray(TEXTS).map((texts) => pagesOf(...texts))
const anyShared = fc.constantFrom('start-1', 'start-2')
/** The own pool of a session, of its first or second creation. */
const anyOwn = fc.constantFrom('a.1', 'b.1', 'c.1', 'a.2')

const anyNewSession = fc
  .record({
    progress: anySession,
    origin: fc.json(),
    base: fc.option(fc.json()),
    creation: fc.integer({ min: 1, max: 2 }),
    pools: fc.uniqueArray(fc.oneof(anyShared, anyOwn), { maxLength: 2 }),
    pages: fc.option(anyPages, { nil: undefined }),
    own: fc.option(anyPages, { nil: undefined }),
  })
  .map(({ progress, origin, base, creation, pools, pages, own }): Parameters<SessionStore['create']> => {
    const session = { ...progress, origin, base, pool: `${progress.id}.${creation}`, pools }
    const pool = pools.find((name) => name.startsWith('start'))
    return [session, pool && pages ? { pool, pages } : undefined, own]
  })

const anyCommit = fc
  .record({
    session: anySession,
    expected: anyExpected,
    epoch: anyEpoch,
    raise: fc.integer({ min: 1, max: 40 }),
    text: fc.option(fc.json(), { nil: undefined }),
    state: fc.option(fc.json(), { nil: undefined }),
    pages: fc.option(anyPages, { nil: undefined }),
  })
  .map(({ session, expected, epoch, raise, text, state, pages }): Parameters<SessionStore['commit']> => {
    // Now and then a commit raises the revision by more than one.
    const revision = expected + Math.max(1, raise - 35)
    const entry = text === undefined ? text : { revision, text, ...(state !== undefined && { state }) }
    return [{ ...session, revision }, { revision: expected, epoch }, entry, pages]
  })

const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: anyNewSession.map((args) => ({ method: 'create' as const, args })) },
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
  {
    weight: 2,
    arbitrary: anyId.map((id) => ({ method: 'readPages' as const, args: [id, namesOf(...TEXTS)] as const })),
  },
  fc
    .uniqueArray(fc.oneof(anyShared, anyOwn), { maxLength: 2 })
    .map((pools) => ({ method: 'hold' as const, args: [pools] as const })),
  fc.constant({ method: 'countPages' as const, args: [] as const }),
)

/** Sequences that collide often: few ids, few revisions. */
export const anyOperations = fc.array(anyOperation, { minLength: 1, maxLength: 60, size: 'max' })

/** Calls the method, and resolves with its answer or the code of its error. */
export async function applyTo(store: Answering, { method, args }: Operation): Promise<unknown> {
  try {
    return await (store[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
  } catch (error) {
    if (StateError.is(error)) return error.code
    throw error
  }
}

/** The simplest implementation of the contract: lists, searched linearly. */
export function createStoreModel(): Answering {
  let sessions: StoredSession[] = []
  let log: (LogEntry & { id: string })[] = []
  let uses: { id: string; pool: string }[] = []
  let pages: (StoredPage & { pool: string })[] = []
  const find = (id: string) => sessions.find((session) => session.id === id)
  const replace = (id: string, ...by: StoredSession[]) => {
    sessions = [...sessions.filter((session) => session.id !== id), ...by]
  }
  let held: string[] = []
  const hasPool = (name: string) => held.includes(name) || uses.some(({ pool }) => pool === name)
  const addPages = (pool: string, added: readonly StoredPage[]) => {
    for (const page of added)
      if (!pages.some(({ pool: its, name }) => its === pool && name === page.name)) pages.push({ ...page, pool })
  }
  const byId = (a: StoredSession, b: StoredSession) => (a.id < b.id ? -1 : 1)
  return {
    async create(session, shared, own = []) {
      const { id, pool, pools } = session
      if (find(id)) return false
      const absent = pools.filter((name) => !hasPool(name))
      const missing = absent.find((name) => name !== shared?.pool)
      if (missing) throw pagesMissing(id, missing)
      replace(id, session)
      for (const name of absent) addPages(name, shared?.pages ?? [])
      addPages(pool, own)
      if (pools.length + own.length > 0) uses.push(...[pool, ...pools].map((name) => ({ id, pool: name })))
      return true
    },
    read: async (id) => find(id) ?? null,
    async commit(next, expected, entry, added = []) {
      const stored = find(next.id)
      if (stored?.revision !== expected.revision || stored.epoch !== expected.epoch) return false
      const { origin, base, pool, pools } = stored
      replace(next.id, { ...next, origin, base, pool, pools })
      if (added.length > 0) uses.push({ id: next.id, pool })
      addPages(pool, added)
      if (entry) log.push({ ...entry, id: next.id })
      return true
    },
    async remove(id) {
      const found = find(id) !== undefined
      replace(id)
      log = log.filter((entry) => entry.id !== id)
      uses = uses.filter((use) => use.id !== id)
      pages = pages.filter(({ pool }) => hasPool(pool))
      return found
    },
    readLog: async (id, { after, limit }) =>
      log
        .filter((entry) => entry.id === id && entry.revision > after)
        .slice(0, limit)
        .map(({ id: _, ...entry }) => entry),
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
    async readPages(id, names) {
      const session = find(id)
      const pools = session ? [session.pool, ...session.pools] : []
      const readable = pages.filter(({ pool }) => pools.includes(pool))
      return names.map((name) => readable.find((page) => page.name === name)?.text ?? null)
    },
    async hold(pools) {
      held = pools.filter(hasPool)
      pages = pages.filter(({ pool }) => hasPool(pool))
    },
    countPages: async () => pages.filter(({ pool }) => uses.some((use) => use.pool === pool)).length,
  }
}
