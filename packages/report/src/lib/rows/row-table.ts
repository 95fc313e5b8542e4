import type { SealedRecord } from '@episodic/protocol'
import { IDENTITY_WORDS, identityOf } from '../fold/episode-identity.ts'
import { OUTCOMES } from '../fold/episode-table.ts'
import { compareTries } from '../fold/which-line-counts.ts'
import type { EpisodeColumns } from './columns.ts'
import { type Row, rowOf } from './row.ts'
import type { UnpackedRows } from './row-batch.ts'
import { createRowColumns, type LinePlace, type RowColumns } from './row-columns.ts'

/** The distinct lines of a run as rows, and which count. Rows are only added: a row's number stays valid. */
export interface RowTable extends Pick<RowColumns, 'size' | 'tasks' | 'taskNumber' | 'at' | 'place' | 'row'> {
  add(record: SealedRecord): number | null
  /** Adds the values of a line, see {@link rowOf}. Returns its row, or `null` if the same line was added before. */
  addRow(row: Row, place: LinePlace): number | null
  /** Adds the rows of a batch as {@link RowTable.addRow} does one after the other, and about ten times as fast. */
  addRows(rows: UnpackedRows): void
  columns(names?: readonly string[]): EpisodeColumns
}

export interface RowTableOptions {
  /** Whose figures they are, if the environment has several seats. Default: the first. */
  readonly seat?: string | undefined
  /**
   * Returns what {@link contentOf} returns for the line of a row. It is asked if two lines of one play have different
   * hashes in their places, which may be of their bytes: the lines may still be equal, and else the lower one counts.
   * Default: the hashes in the places decide.
   */
  readonly contentAt?: (row: number) => number
}

/** Creates an empty table. Of the lines of one episode the same one counts as in a report, see {@link compareTries}. */
export function createRowTable({ seat, contentAt }: RowTableOptions = {}): RowTable {
  const columns = createRowColumns()
  const compareContent = contentAt ?? ((row: number) => columns.place(row).content)
  /** The row of an episode that counts, plus one, in the slot of its task and attempt; 0 is a free slot. */
  let slots = new Uint32Array(1_024)
  let episodes = 0
  /** Rows of episodes with several, by the row that was first. */
  const several = new Map<number, number[]>()

  const slotOf = (row: number): number => {
    const mask = slots.length - 1
    const [task, attempt] = [columns.at('task', row), columns.at('attempt', row)]
    let slot = (Math.imul(task, 0x9e3779b1) ^ Math.imul(attempt, 0x85ebca6b)) & mask
    for (;;) {
      const other = (slots[slot] as number) - 1
      if (other < 0 || (columns.at('task', other) === task && columns.at('attempt', other) === attempt)) return slot
      slot = (slot + 1) & mask
    }
  }
  const grow = () => {
    const rows = slots.filter((slot) => slot > 0)
    slots = new Uint32Array(slots.length * 2)
    for (const row of rows) slots[slotOf(row - 1)] = row
  }
  const isFailed = (row: number) => OUTCOMES[columns.at('outcome', row)]?.kind === 'failed'
  const isPreferred = (row: number, other: number): boolean => {
    const order = compareTries(isFailed(row), columns.at('try', row), isFailed(other), columns.at('try', other))
    return order === 0 ? compareContent(row) < compareContent(other) : order < 0
  }
  const isRepeated = (row: number, others: readonly number[]) =>
    others.some(
      (other) =>
        columns.at('try', other) === columns.at('try', row) &&
        (columns.place(other).content === columns.place(row).content || compareContent(other) === compareContent(row)),
    )

  const settle = (row: number): 'new' | 'repeated' => {
    const slot = slotOf(row)
    const counting = (slots[slot] as number) - 1
    if (counting < 0) {
      slots[slot] = row + 1
      episodes += 1
      if (episodes > slots.length * 0.75) grow()
      return 'new'
    }
    const rows = several.get(counting) ?? [counting]
    if (isRepeated(row, rows)) return 'repeated'
    rows.push(row)
    const preferred = isPreferred(row, counting) ? row : counting
    several.delete(counting)
    several.set(preferred, rows)
    slots[slot] = preferred + 1
    for (const one of rows) columns.setCounts(one, one === preferred)
    return 'new'
  }
  const addRow = (values: Row, place: LinePlace): number | null => {
    const row = columns.push(values, place)
    if (settle(row) === 'new') return row
    columns.cut(row)
    return null
  }
  return {
    get size() {
      return columns.size
    },
    tasks: columns.tasks,
    taskNumber: columns.taskNumber,
    at: columns.at,
    place: columns.place,
    row: columns.row,
    columns: columns.columns,
    addRow,
    addRows(rows) {
      const first = columns.size
      columns.pushAll(rows)
      for (let i = 0; i < rows.size; i++) {
        if (settle(first + i) === 'new') continue
        // Rows after a repeated line have other numbers.
        columns.cut(first + i)
        for (let later = i + 1; later < rows.size; later++) addRow(rows.row(later), rows.place(later))
        return
      }
    },
    add: (record) => addRow(rowOf(record, seat), { offset: 0, length: 0, content: contentOf(record) }),
  }
}

/**
 * Returns the content of a line as the fold identifies it: the leading 52 bits, which order lines as all do.
 *
 * @param text - its JSON. Default: it is written.
 */
export function contentOf(record: SealedRecord, text?: string): number {
  const identity = identityOf(record, text)
  const [high, low] = identity.subarray(IDENTITY_WORDS - 2) as unknown as [number, number]
  return high * 2 ** 20 + (low >>> 12)
}
