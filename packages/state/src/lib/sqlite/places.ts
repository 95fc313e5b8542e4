import type { DatabaseSync } from 'node:sqlite'
import { addText, START } from './checksum.ts'
import { assertSessionRow } from './session-row.ts'

/** The position of a session in the file. A commit of the session updates it. */
export interface SessionPosition {
  readonly id: string
  readonly key: number
  /** The checksum of its id, from which those of its rows start. */
  readonly sum: number
  revision: number
  epoch: number
  last: number
  /** The key of its own pool, once a commit has looked for it. */
  pool: number | null
}

/** The number of cached positions. Beyond it, the cache is cleared. */
const REMEMBERED = 16_384

/** Positions of sessions by id. No other process writes the file, so a commit need not read it to compare. */
export function createSqlitePlaces(database: DatabaseSync) {
  const places = new Map<string, SessionPosition>()
  const session = database.prepare('SELECT * FROM session WHERE id = ?')
  return {
    of(id: string): SessionPosition | null {
      const remembered = places.get(id)
      if (remembered) return remembered
      const row = session.get(id)
      if (!row) return null
      const { key, revision, epoch, last } = assertSessionRow(row)
      const place = { id, key, sum: addText(START, id), revision, epoch, last, pool: null }
      if (places.size >= REMEMBERED) places.clear()
      places.set(id, place)
      return place
    },
    forget(id: string): void {
      places.delete(id)
    },
    forgetAll(): void {
      places.clear()
    },
  }
}
