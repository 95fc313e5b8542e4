import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { addText, START } from './checksum.ts'
import { assertSessionRow } from './session-row.ts'

/** Where a session stands in the file. Whoever writes the session moves it along. */
export interface Place {
  /** The key of its row. */
  readonly key: number
  /** The checksum of its id, with which those of its rows begin. */
  readonly sum: number
  revision: number
  epoch: number
  /** The number of its last log entry, 0 for none. */
  last: number
}

/** How many sessions' places are remembered. Past that, they are looked up again. */
const REMEMBERED = 16_384

/**
 * Where sessions stand, by id. The file is this process's alone, so what was written once stays true, and a commit
 * compares with what is remembered instead of asking the file.
 */
export class SqlitePlaces {
  readonly #session: StatementSync
  readonly #remembered = new Map<string, Place>()

  constructor(database: DatabaseSync) {
    this.#session = database.prepare('SELECT * FROM session WHERE id = ?')
  }

  /** Where a session stands; `null` where there is none of that id. */
  of(id: string): Place | null {
    const remembered = this.#remembered.get(id)
    if (remembered) return remembered
    const row = this.#session.get(id)
    if (!row) return null
    const { key, revision, epoch, last } = assertSessionRow(row)
    const place = { key, sum: addText(START, id), revision, epoch, last }
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear()
    this.#remembered.set(id, place)
    return place
  }

  /** Forgets a session that is removed. */
  forget(id: string): void {
    this.#remembered.delete(id)
  }

  /** Forgets all: the transaction that moved them did not come to be. */
  forgetAll(): void {
    this.#remembered.clear()
  }
}
