/** The part of a session that a commit writes. It never changes, so that a store in memory may keep the object. */
export interface StoredProgress {
  /** Printable ASCII. */
  readonly id: string
  readonly revision: number
  readonly epoch: number
  /** Milliseconds since 1970 of the last commit. */
  readonly touchedAt: number
  /** JSON text of everything else that commits change. Stores do not parse it. */
  readonly head: string
  /** JSON text of the state: separate, because it can be large and forks share it. */
  readonly state: string
}

/** One session as a store keeps it. Only `create` writes the fields that it adds to {@link StoredProgress}. */
export interface StoredSession extends StoredProgress {
  /** JSON text of what was fixed when the session was opened: separate, so that steps do not write it again. */
  readonly origin: string
  /**
   * JSON text of the initial state if it came from another session, else `null`: separate, because it can be large and
   * forks share it. A store in memory keeps the same string, not a copy.
   */
  readonly base: string | null
  /**
   * The name of the session's own pool of pages. It is another one for every creation of a session, so that a session
   * that is created again under the id of a removed one does not get that one's pages.
   */
  readonly pool: string
  /** The names of the pools that the session reads and does not write; none for a state without pages. */
  readonly pools: readonly string[]
}

/** One entry of a session's step log: `text` is JSON, and `revision` that of the session at its commit. */
export interface LogEntry {
  readonly revision: number
  readonly text: string
  /** JSON text of the state at that commit; left out where the log does not keep it. */
  readonly state?: string | undefined
}

export interface StoredPage {
  /** The content id of `text`, 32 hexadecimal digits: pages of one name are equal. Stores do not check it. */
  readonly name: string
  readonly text: string
}

export interface SharedPool {
  readonly pool: string
  readonly pages: readonly StoredPage[]
}

/**
 * Where sessions are stored. The contract, each sentence of which the suite in `@episodic/state/testing` tests:
 *
 * - `create` inserts a session with an empty log if its id is absent, and resolves with whether it did.
 * - `commit` writes the session and its log entry together or not at all, and only if the stored `revision` and `epoch`
 *   are the expected ones; it resolves with whether it did. It resolves after the write is as durable as the store
 *   promises, so an answer that waits for it is never lost. A store that has nothing to wait for may return the result.
 * - `read` resolves with what the last commit wrote, with the origin and the base that `create` wrote, or with `null`.
 * - `remove` deletes a session and its log, and resolves with whether it existed.
 * - `readLog` resolves with the entries after a revision, in order, at most `limit` of them.
 * - `create` and `commit` write `pages` into the session's own pool, together with the session and its entry or not at
 *   all. A page that is there already stays as it is.
 * - A session's own pool exists from its first page on, or from its creation if the session names other pools.
 * - `create` rejects with `pages-missing`, and writes nothing, if a pool that the session names does not exist. If that
 *   is the pool of `shared`, `create` makes it, with these pages. A pool that exists stays as it is: its name has to
 *   say what is in it, or its pages have to be those of a session.
 * - `readPages` resolves with the text of each named page, from the session's own pool or from one that it names; with
 *   `null` for a page that is in none of them, and for every page of a session that is absent. Any number of names may
 *   be asked for at once.
 * - A pool lives as long as a session that uses it: one whose own it is, or that names it. The pool and its pages go
 *   with the last of them.
 * - `hold` keeps those of the named pools that exist, although no session uses them, until the next `hold` of this
 *   opener, and for two minutes at least. What it held before and does not name again, it lets go. A pool that was held
 *   by a process that has died goes with the next `hold`, or where several may open the store, after two minutes.
 * - `countPages` resolves with the number of pages in all pools but those that are only held.
 * - `list` resolves with the sessions after an id, in the order of their ids, at most `limit` of them.
 * - `idle` resolves with the ids of sessions last touched before a time, longest idle first (of equals, in the order of
 *   their ids), at most `limit` of them.
 * - `count` resolves with the number of sessions.
 * - `secret` is 32 random bytes, created with the store and the same for the life of the store.
 * - Writes of one turn are decided separately, in the order of the calls.
 * - A store may let sessions without commits expire. To every method, an expired session is like a removed one.
 * - A store that cannot work rejects with `store-unavailable` in bounded time and recovers by itself. Then nothing of
 *   the write was applied; or all of it, perhaps only later, if a connection can be lost between the write and its
 *   answer. A write is never applied in part, and an acknowledged write stays.
 * - After disposal every method rejects with `store-unavailable`; disposing twice is safe.
 */
export interface SessionStore extends AsyncDisposable {
  secret(): Promise<Uint8Array>
  /**
   * Writes a little that belongs to no session. Rejects with `store-unavailable` while the store takes no writes,
   * although it may still be read: its memory or disk is full, or it is a replica.
   */
  checkWritable(): Promise<void>
  /** `shared` is what a pool of `session.pools` contains, for a store that lacks it. `pages` go into its own pool. */
  create(session: StoredSession, shared?: SharedPool, pages?: readonly StoredPage[]): Promise<boolean>
  read(id: string): Promise<StoredSession | null>
  commit(
    next: StoredProgress,
    expected: { readonly revision: number; readonly epoch: number },
    entry?: LogEntry,
    pages?: readonly StoredPage[],
  ): Promise<boolean> | boolean
  remove(id: string): Promise<boolean>
  readLog(id: string, range: { readonly after: number; readonly limit: number }): Promise<LogEntry[]>
  list(page: { readonly after?: string | undefined; readonly limit: number }): Promise<StoredSession[]>
  idle(query: { readonly before: number; readonly limit: number }): Promise<string[]>
  count(): Promise<number>
  readPages(id: string, names: readonly string[]): Promise<(string | null)[]>
  hold(pools: readonly string[]): Promise<void>
  countPages(): Promise<number>
}
