import type { DatabaseSync } from 'node:sqlite'
import { StateError } from '../state-error.ts'

interface Waiting {
  readonly write: () => unknown
  readonly resolve: (answer: never) => void
  readonly reject: (cause: unknown) => void
  answer: unknown
}

export type GroupCommit = ReturnType<typeof createGroupCommit>

/**
 * Gathers all writes of one turn of the event loop into one transaction, so that they share the cost of durability.
 * Each resolves after the commit. If the transaction fails, no write is applied and all reject; if it fails because a
 * row is damaged, each write is tried alone.
 *
 * `faultOf` returns what callers get for a failed transaction; `onCommitted` is called after each other.
 */
export function createGroupCommit(
  database: DatabaseSync,
  faultOf: (cause: unknown) => Error,
  onCommitted: (writes: number) => void,
) {
  let queued: Waiting[] = []
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const beginWrites: () => unknown = () => begin.run()
  const commitWrites: () => unknown = () => commit.run()
  const undoWrites: () => unknown = () => database.exec('ROLLBACK')
  return {
    /** Runs `write` with the others of this turn, in the order of the calls, and resolves with what it returns. */
    run<T>(write: () => T): Promise<T> {
      return new Promise((resolve, reject) => {
        if (queued.push({ write, resolve, reject, answer: undefined }) === 1) setImmediate(() => flush())
      })
    },
    flush,
  }

  function flush(): void {
    const waiting = queued
    if (waiting.length === 0) return
    queued = []
    commitTogether(waiting)
  }

  function commitTogether(writes: readonly Waiting[]): void {
    try {
      beginWrites()
      for (const entry of writes) entry.answer = entry.write()
      commitWrites()
    } catch (cause) {
      undo()
      const fault = faultOf(cause)
      // A damaged row must not reject the other writes of its turn.
      if (StateError.is(fault, 'store-invalid') && writes.length > 1)
        for (const entry of writes) commitTogether([entry])
      else for (const { reject } of writes) reject(fault)
      return
    }
    for (const { resolve, answer } of writes) resolve(answer as never)
    onCommitted(writes.length)
  }

  function undo(): void {
    try {
      undoWrites()
    } catch {
      // SQLite has already rolled back, as it does after some faults.
    }
  }
}
