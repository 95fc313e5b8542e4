/** The part of a session that a commit writes. All fields are immutable values. */
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
}

/** One entry of a session's step log: `text` is JSON, and `revision` that of the session at its commit. */
export interface LogEntry {
  readonly revision: number
  readonly text: string
}

/**
 * Where sessions are stored. The contract, each sentence of which the suite in `@episodic/state/testing` tests:
 *
 * - `create` inserts a session with an empty log if its id is absent, and resolves with whether it did.
 * - `commit` writes the session and its log entry together or not at all, and only if the stored `revision` and `epoch`
 *   are the expected ones; it resolves with whether it did. It resolves after the write is as durable as the store
 *   promises, so an answer that waits for it is never lost.
 * - `read` resolves with what the last commit wrote, with the origin and the base that `create` wrote, or with `null`.
 * - `remove` deletes a session and its log, and resolves with whether it existed.
 * - `readLog` resolves with the entries after a revision, in order, at most `limit` of them.
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
  create(session: StoredSession): Promise<boolean>
  read(id: string): Promise<StoredSession | null>
  commit(
    next: StoredProgress,
    expected: { readonly revision: number; readonly epoch: number },
    entry?: LogEntry,
  ): Promise<boolean>
  remove(id: string): Promise<boolean>
  readLog(id: string, range: { readonly after: number; readonly limit: number }): Promise<LogEntry[]>
  list(page: { readonly after?: string | undefined; readonly limit: number }): Promise<StoredSession[]>
  idle(query: { readonly before: number; readonly limit: number }): Promise<string[]>
  count(): Promise<number>
}
