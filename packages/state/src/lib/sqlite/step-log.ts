import type { DatabaseSync } from 'node:sqlite'
import type { LogEntry } from '../store/session-store.ts'
import { addNumber, addText, areNumbers, areTexts, assertIntact } from './checksum.ts'
import type { SessionPosition } from './places.ts'

interface EntryRow {
  readonly number: number
  readonly previous: number
  readonly revision: number
  readonly text: string
  readonly state: string | null
  readonly checksum: number
}

/** The step logs of all sessions in one append-only table, see `database-file.ts`. Part of the caller's transaction. */
export function createSqliteLog(database: DatabaseSync) {
  const insert = database.prepare(
    'INSERT INTO log_entry (number, previous, revision, text, checksum) VALUES (?, ?, ?, ?, ?)',
  )
  const insertWithState = database.prepare(
    'INSERT INTO log_entry (number, previous, revision, text, checksum, state) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const entry = database.prepare('SELECT * FROM log_entry WHERE number = ?')
  const deleteEntries = database.prepare('DELETE FROM log_entry WHERE number = ?')
  const { last } = database.prepare('SELECT max(number) AS last FROM log_entry').get() ?? {}
  let lastNumber: number = Number(last ?? 0)
  return {
    append(place: SessionPosition, entry: LogEntry): void {
      const { revision, text } = entry
      const state = entry.state ?? null
      const number = ++lastNumber
      const previous = place.last
      const checksum = entryChecksum(place, { number, previous, revision, text, state })
      if (state === null) insert.get(number, previous, revision, text, checksum)
      else insertWithState.get(number, previous, revision, text, checksum, state)
      place.last = number
    },
    read(place: SessionPosition, after: number, limit: number): LogEntry[] {
      const entries = [...entriesOf(place, after)].reverse().slice(0, limit)
      return entries.map(({ revision, text, state }) =>
        state === null ? { revision, text } : { revision, text, state },
      )
    },
    remove(place: SessionPosition): void {
      for (const { number } of entriesOf(place, -1)) deleteEntries.run(number)
    },
  }

  function* entriesOf(place: SessionPosition, after: number): Generator<EntryRow> {
    for (let number = place.last; number > 0; ) {
      const row = (entry.get(number) ?? {}) as unknown as EntryRow
      const { previous, revision, text, state, checksum } = row
      assertIntact(
        `entry ${number} of the log`,
        areNumbers(previous, revision) &&
          areTexts(text, state ?? '') &&
          checksum === entryChecksum(place, { ...row, number }),
      )
      if (revision <= after) return
      yield row
      number = previous
    }
  }
}

function entryChecksum(
  place: SessionPosition,
  { number, previous, revision, text, state }: Omit<EntryRow, 'checksum'>,
): number {
  let sum = addNumber(place.sum, number)
  sum = addNumber(sum, previous)
  sum = addNumber(sum, revision)
  sum = addText(sum, text)
  return state === null ? sum : addText(addNumber(sum, state.length), state)
}
