import type { SealedRecord } from '@episodic/protocol'

/** The lines of records that another process sealed, as it wrote them. */
const lines = new WeakMap<SealedRecord, string>()

/** Returns the JSON of a record: its line in `episodes.jsonl`, without the line break. */
export function lineOf(record: SealedRecord): string {
  return lines.get(record) ?? JSON.stringify(record)
}

/**
 * Returns the record of a line that another process of the same run wrote with {@link lineOf}. It is not validated, and
 * it keeps its line, which is then not written again.
 */
export function readOwnLine(line: string): SealedRecord {
  const record = JSON.parse(line) as SealedRecord
  lines.set(record, line)
  return record
}
