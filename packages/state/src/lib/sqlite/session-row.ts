import type { StoredProgress, StoredSession } from '../store/session-store.ts'
import { addNumber, addText, areNumbers, areTexts, assertIntact, START } from './checksum.ts'

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

/** The columns of the table `session_origin`. */
interface OriginColumns {
  readonly origin: string
  readonly base: string | null
  readonly originChecksum: number
}

/** Returns the checksum of a session's row; `idSum` is the checksum of its id. */
export function sessionChecksum(idSum: number, progress: Omit<StoredProgress, 'id'>, last: number): number {
  const { revision, epoch, touchedAt, head, state } = progress
  let sum = addNumber(idSum, revision)
  sum = addNumber(sum, epoch)
  sum = addNumber(sum, touchedAt)
  sum = addNumber(sum, last)
  sum = addText(sum, head)
  return addText(sum, state)
}

/** Returns the checksum of a row of the table `session_origin`. */
export function originChecksum(id: string, origin: string, base: string | null): number {
  const sum = addText(addText(START, id), origin)
  return base === null ? sum : addText(addNumber(sum, base.length), base)
}

/** Returns a row of SQLite, typed. Throws `store-invalid` if it is damaged. */
export function assertSessionRow(row: Record<string, unknown>): SessionRow {
  const found = row as unknown as SessionRow
  const { id, revision, epoch, touched_at: touchedAt, last, head, state, checksum } = found
  assertIntact(
    `session ${id}`,
    areNumbers(revision, epoch, touchedAt, last) &&
      areTexts(id, head, state) &&
      checksum === sessionChecksum(addText(START, id), { revision, epoch, touchedAt, head, state }, last),
  )
  return found
}

/** Returns the session of a row of SQLite, with its origin. Throws `store-invalid` if it is damaged. */
export function asSession(row: Record<string, unknown>): StoredSession {
  const { id, revision, epoch, touched_at: touchedAt, head, state } = assertSessionRow(row)
  const { origin, base, originChecksum: checksum } = row as unknown as OriginColumns
  assertIntact(
    `the origin of session ${id}`,
    areTexts(origin, base ?? '') && checksum === originChecksum(id, origin, base),
  )
  return { id, revision, epoch, touchedAt, origin, base, head, state }
}
