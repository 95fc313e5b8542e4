/** What a commit writes of a session. All fields are immutable values, so no copy can be reached into. */
export interface StoredProgress {
  /** Printable ASCII. */
  readonly id: string
  readonly revision: number
  readonly epoch: number
  /** Milliseconds since 1970 of the last commit. */
  readonly touchedAt: number
  /** JSON text of what else commits change. Stores never look inside. */
  readonly head: string
  /** JSON text of the state; kept apart because it is the part that can be large and that forks share. */
  readonly state: string
}

/** One session as a store keeps it. What it adds to its progress never changes: only `create` writes it. */
export interface StoredSession extends StoredProgress {
  /** JSON text of what was decided when it began: apart, because every step would pay for it otherwise. */
  readonly origin: string
  /**
   * JSON text of the state that it began with, where that was another session's; apart, because it can be large and forks
   * share it. A store that keeps values in memory keeps the very string that it is given.
   */
  readonly base: string | null
}

/** One entry of a session's step log: `text` is JSON, `revision` that of the session it was committed with. */
export interface LogEntry {
  readonly revision: number
  readonly text: string
}

/**
 * Where sessions live. The contract, each sentence of which the suite in `@episodic/state/testing` holds:
 *
 * - `create` inserts if absent, with an empty log, and says whether it did.
 * - `commit` writes the session and its log entry together or not at all, and only where the stored `revision` and
 *   `epoch` are the expected ones; it says whether it did. It resolves after the write is as durable as the store
 *   promises, so an answer that waits for it is never lost.
 * - `read` gives what the last commit wrote, with the origin and the base that `create` wrote, or `null`.
 * - `remove` deletes a session and its log, and says whether it was there.
 * - `readLog` gives entries after a revision, in order, at most `limit` of them.
 * - `list` gives sessions in the order of their ids, after an id, at most `limit` of them.
 * - `idle` gives the ids of sessions last touched before a time, longest idle first (of equals, in the order
 *   of their ids), at most `limit` of them.
 * - `count` gives the number of sessions.
 * - `secret` is 32 random bytes, made with the store and the same for as long as the store lives.
 * - Writes that are called in one turn are decided each on its own, in the order of the calls.
 * - A store may let sessions expire that nobody commits to. One that has expired is as if it had been removed, for every method.
 * - A store that cannot do its work rejects with `store-unavailable` in bounded time and goes on by itself once it can. Then
 *   nothing was applied; or all of it, where a store can be cut off between writing and saying so, and then perhaps only
 *   later. Nothing is ever applied in part, and what was acknowledged stays.
 * - After disposal every method rejects with `store-unavailable`; disposing twice is safe.
 */
export interface SessionStore extends AsyncDisposable {
  secret(): Promise<Uint8Array>
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
