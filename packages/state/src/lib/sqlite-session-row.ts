import type { StoredProgress } from './session-store.ts'
import { assertIntact, checksumOf } from './sqlite-checksum.ts'

/** A row of the table `session`. */
export interface SessionRow {
  readonly key: number
  readonly id: string
  readonly revision: number
  readonly epoch: number
  readonly touched_at: number
  /** The number of its last log entry, 0 for none. */
  readonly last: number
  readonly head: string
  readonly state: string
  readonly checksum: number
}

/** The checksum of the row that `progress` makes. */
export function sessionChecksum(progress: StoredProgress, last: number): number {
  const { id, revision, epoch, touchedAt, head, state } = progress
  return checksumOf(id, revision, epoch, touchedAt, last, head, state)
}

/** Takes a row as it comes from SQLite. Throws `store-invalid` where it is damaged. */
export function assertSessionRow(row: unknown): SessionRow {
  const found = row as SessionRow
  const { id, revision, epoch, touched_at, last, head, state, checksum } = found
  assertIntact(`session ${id}`, checksum, id, revision, epoch, touched_at, last, head, state)
  return found
}
