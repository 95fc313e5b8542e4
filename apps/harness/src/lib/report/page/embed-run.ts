import type { SealedRecord } from '@episodic/protocol'
import {
  contentOf,
  createGradableLines,
  createRowTable,
  type EmbeddedRun,
  encodeColumns,
  type GradeRecord,
  type RowTable,
  type RowWords,
  type RunDetail,
  rowOf,
  rowWords,
  sampleRows,
  sealedShape,
  summarizeGrades,
} from '@episodic/report'

/** Sealed lines as they are in a file, from its start each time. */
export type SealedLines = () => Iterable<string> | AsyncIterable<string>

export interface EmbeddedContent {
  /** What the page says of the run as a whole; its rows and words are filled in. */
  readonly detail: Omit<RunDetail, 'rows' | 'dictionaries'>
  readonly lines: SealedLines
  readonly grades: readonly GradeRecord[]
  /** Whose figures the rows have, if the environment has several seats. */
  readonly seat?: string | undefined
  /** Most characters of whole lines. Of more, those that `sampleRows` puts first are there. */
  readonly mostCharacters: number
  /** Whole lines that go before all others. Default: none. */
  readonly goesFirst?: ((episode: Pick<RowWords, 'task' | 'attempt'>) => boolean) | undefined
}

/** A line, as far as it has to be known to choose lines. */
interface Place {
  readonly words: Omit<RowWords, 'row'>
  /** Which of the lines it is, from 0. */
  readonly line: number
  readonly length: number
}

/**
 * Makes what a page holds of a run: columns of all of its distinct lines, and as many whole lines as fit. The rows are in the
 * order in which the episodes started, so that the same lines in another order give the same page. Lines that are no sealed
 * episodes are skipped.
 */
export async function embedRun({
  detail,
  lines,
  grades,
  seat,
  mostCharacters,
  goesFirst = () => false,
}: EmbeddedContent): Promise<EmbeddedRun> {
  const unordered = createRowTable({ seat })
  const gradable = createGradableLines(seat)
  const places: Place[] = []
  let line = -1
  for await (const text of lines()) {
    line += 1
    const record = readShape(text)
    if (!record) continue
    // Naming a line for its verdicts takes time, and most runs have none.
    if (grades.length > 0) gradable.add(record)
    const content = contentOf(record, seat)
    if (unordered.addRow(rowOf(record, seat), { offset: line, length: text.length, content }) === null) continue
    places.push({ words: rowWords(record), line, length: text.length })
  }
  const order = [...places.keys()].sort((a, b) => compareRows(unordered, a, b))
  const table = createRowTable({ seat })
  for (const row of order) table.addRow(unordered.row(row), unordered.place(row))
  const ordered = order.map((row) => places[row] as Place)
  const columns = table.columns()
  const words = ordered.map(({ words }, row): RowWords => ({ row, ...words }))
  const wanted = new Map<number, number>()
  let left = mostCharacters
  const sampled = sampleRows(columns, columns.columns.draw ?? [])
  const first = sampled.filter((row) => goesFirst((ordered[row] as Place).words))
  for (const row of new Set([...first, ...sampled])) {
    const { line: number, length } = ordered[row] as Place
    if (length > left) continue
    left -= length
    wanted.set(number, row)
  }
  return {
    detail: { ...detail, rows: table.size, dictionaries: columns.dictionaries },
    columns: Buffer.from(encodeColumns(columns)).toString('base64'),
    words,
    lines: await readWanted(lines, wanted),
    grades,
    gradeSummary: {
      ...summarizeGrades(detail.entry.name, grades, gradable.list()),
      episodes: detail.summary.counts.finished,
    },
  }
}

async function readWanted(
  lines: SealedLines,
  wanted: ReadonlyMap<number, number>,
): Promise<{ readonly [row: string]: string }> {
  const found: (readonly [number, string])[] = []
  let line = -1
  for await (const text of lines()) {
    line += 1
    const row = wanted.get(line)
    if (row !== undefined) found.push([row, text])
    if (found.length === wanted.size) break
  }
  return Object.fromEntries(found)
}

function compareRows(table: RowTable, a: number, b: number): number {
  const difference = (name: 'started' | 'attempt' | 'try') => table.at(name, a) - table.at(name, b)
  const [one = '', other = ''] = [table.tasks[table.at('task', a)], table.tasks[table.at('task', b)]]
  return (
    difference('started') ||
    (one < other ? -1 : one > other ? 1 : 0) ||
    difference('attempt') ||
    difference('try') ||
    table.place(a).content - table.place(b).content
  )
}

function readShape(text: string): SealedRecord | null {
  try {
    return sealedShape(JSON.parse(text))
  } catch {
    return null
  }
}
