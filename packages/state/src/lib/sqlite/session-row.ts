import type { StoredProgress, StoredSession } from '../store/session-store.ts'
import { addNumber, addText, areNumbers, areTexts, assertIntact, START } from './checksum.ts'

export interface SessionRow extends Omit<StoredProgress, 'touchedAt'> {
  readonly key: number
  readonly touched_at: number
  /** The number of its last log entry, 0 for none. */
  readonly last: number
  readonly checksum: number
}

export type Origin = Pick<StoredSession, 'origin' | 'base' | 'pool' | 'pools'>

export function sessionChecksum(idSum: number, progress: Omit<StoredProgress, 'id'>, last: number): number {
  const { revision, epoch, touchedAt, head, state } = progress
  let sum = addNumber(idSum, revision)
  sum = addNumber(sum, epoch)
  sum = addNumber(sum, touchedAt)
  sum = addNumber(sum, last)
  sum = addText(sum, head)
  return addText(sum, state)
}

interface OriginColumns {
  readonly text: string
  readonly base: string | null
  /** JSON text of the names of its own pool and of those that it reads. */
  readonly pools: string
}

export function originChecksum(id: string, { text, base, pools }: OriginColumns): number {
  let sum = addText(addText(START, id), text)
  if (base !== null) sum = addText(addNumber(sum, base.length), base)
  return addText(addNumber(sum, pools.length), pools)
}

/** Returns what a row of `session_origin` says. Throws `store-invalid` if it does not match the checksum. */
export function assertOrigin(id: string, row: Record<string, unknown>, checksum: unknown): Origin {
  const columns = row as unknown as OriginColumns
  const { text, base, pools } = columns
  assertIntact(
    `the origin of session ${id}`,
    areTexts(text, base ?? '', pools) && checksum === originChecksum(id, columns),
  )
  const [pool, ...others]: [string, ...string[]] = JSON.parse(pools)
  return { origin: text, base, pool, pools: others }
}

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

export function asSession(row: Record<string, unknown>): StoredSession {
  const { id, revision, epoch, touched_at: touchedAt, head, state } = assertSessionRow(row)
  const { origin, base, pool, pools } = assertOrigin(id, row, row.originChecksum)
  return { id, revision, epoch, touchedAt, origin, base, pool, pools, head, state }
}
