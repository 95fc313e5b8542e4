import type { DatabaseSync } from 'node:sqlite'
import { StateError } from '../state-error.ts'

interface Waiting {
  readonly write: () => unknown
  readonly resolve: (answer: never) => void
  readonly reject: (cause: unknown) => void
  answer: unknown
}

/**
 * Gathers all writes of one turn of the event loop into one transaction, so that they share the cost of making it
 * durable. Each is answered after the commit; when the transaction fails, none of them is applied and all reject. Where it
 * fails for damage, each is tried alone.
 */
export class GroupCommit {
  readonly #begin: () => unknown
  readonly #commit: () => unknown
  readonly #rollback: () => unknown
  readonly #faultOf: (cause: unknown) => Error
  readonly #onCommitted: (writes: number) => void
  #waiting: Waiting[] = []

  /** `faultOf` says what the callers get to hear of a transaction that failed; `onCommitted` hears of each that did not. */
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

  /** Commits what waits, now. */
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
      // One row that is damaged is no reason to turn away the others of its turn.
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
      // SQLite has rolled back already, as it does after some faults; there is no transaction left to end.
    }
  }
}
