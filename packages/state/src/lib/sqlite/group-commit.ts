import type { DatabaseSync } from 'node:sqlite'
import { StateError } from '../state-error.ts'

interface Waiting {
  readonly write: () => unknown
  readonly resolve: (answer: never) => void
  readonly reject: (cause: unknown) => void
  answer: unknown
}

/**
 * Gathers all writes of one turn of the event loop into one transaction, so that they share the cost of durability.
 * Each resolves after the commit. If the transaction fails, no write is applied and all reject; if it fails because a
 * row is damaged, each write is tried alone.
 */
export class GroupCommit {
  readonly #begin: () => unknown
  readonly #commit: () => unknown
  readonly #rollback: () => unknown
  readonly #faultOf: (cause: unknown) => Error
  readonly #onCommitted: (writes: number) => void
  #waiting: Waiting[] = []

  /** `faultOf` returns what callers get for a failed transaction; `onCommitted` is called after each other. */
  constructor(database: DatabaseSync, faultOf: (cause: unknown) => Error, onCommitted: (writes: number) => void) {
    this.#faultOf = faultOf
    this.#onCommitted = onCommitted
    const begin = database.prepare('BEGIN IMMEDIATE')
    const commit = database.prepare('COMMIT')
    this.#begin = () => begin.run()
    this.#commit = () => commit.run()
    this.#rollback = () => database.exec('ROLLBACK')
  }

  /** Runs `write` with the others of this turn, in the order of the calls, and resolves with what it returns. */
  run<T>(write: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ write, resolve, reject, answer: undefined }) === 1) setImmediate(() => this.flush())
    })
  }

  flush(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    this.#commitTogether(waiting)
  }

  #commitTogether(writes: readonly Waiting[]): void {
    try {
      this.#begin()
      for (const entry of writes) entry.answer = entry.write()
      this.#commit()
    } catch (cause) {
      this.#undo()
      const fault = this.#faultOf(cause)
      // A damaged row must not reject the other writes of its turn.
      if (StateError.is(fault, 'store-invalid') && writes.length > 1)
        for (const entry of writes) this.#commitTogether([entry])
      else for (const { reject } of writes) reject(fault)
      return
    }
    for (const { resolve, answer } of writes) resolve(answer as never)
    this.#onCommitted(writes.length)
  }

  #undo(): void {
    try {
      this.#rollback()
    } catch {
      // SQLite has already rolled back, as it does after some faults.
    }
  }
}
