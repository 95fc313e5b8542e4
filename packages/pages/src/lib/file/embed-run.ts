import type { SealedRecord } from '@episodic/protocol'
import { createGradableLines } from '@episodic/report/grades/gradable-lines'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import { encodeColumns } from '@episodic/report/rows/columns-codec'
import { rowOf } from '@episodic/report/rows/row'
import { sampleRows } from '@episodic/report/rows/row-sample'
import { contentOf, createRowTable, type RowTable } from '@episodic/report/rows/row-table'
import { sealedShape } from '@episodic/report/rows/sealed-shape'
import type { EmbeddedRun } from '@episodic/report/view/embedded-runs'
import { rowWords } from '@episodic/report/view/row-words'
import type { RowWords, RunDetail } from '@episodic/report/view/run-entry'
import { jsonOf } from '@episodic/run/base/json'
import { type Scrub, scrubbed } from '@episodic/run/folder/scrub'

/** Sealed lines as they are in a file, from its start each time. */
export type SealedLines = () => Iterable<string> | AsyncIterable<string>

export interface EmbeddedContent {
  /** What the page says of the run as a whole; its rows and words are filled in. */
  readonly detail: Omit<RunDetail, 'rows' | 'dictionaries'>
  readonly lines: SealedLines
  /** Takes out of JSON what a page must not say. Default: the lines may be shown as they are. */
  readonly share?: Scrub | undefined
  readonly grades: readonly GradeRecord[]
  /** Whose figures the rows have, if the environment has several seats. */
  readonly seat?: string | undefined
  /** Most episodes. Of more, those that `sampleRows` puts first are there, which are drawn at random but for a few. */
  readonly mostRows: number
  /** Most characters of whole lines. Of more, those that `sampleRows` puts first are there. */
  readonly mostCharacters: number
  /** Whole lines that go before all others. Default: none. */
  readonly goesFirst?: ((episode: Pick<RowWords, 'task' | 'attempt'>) => boolean) | undefined
}

/**
 * Makes what a page holds of a run: columns of its distinct lines, all of them or as many as may be there, and as many
 * whole lines as fit. The rows are in the order in which the episodes started, so that the same lines in another order
 * give the same page. Lines that are no sealed episodes are skipped.
 */
export async function embedRun({ share = (json) => json, ...content }: EmbeddedContent): Promise<EmbeddedRun> {
  const { detail, columns, rows, whole, gradeSummary } = await embedRows(content)
  const shareOnce = remembered((text) => scrubbed(text, share))
  const words: RowWords[] = []
  const texts: (readonly [row: number, text: string])[] = []
  let line = -1
  for await (const text of content.lines()) {
    line += 1
    const row = rows[line] ?? -1
    if (row < 0) continue
    const { task, attempt, try: number, outcome } = sealedShape(jsonOf(text)) as SealedRecord
    const shown = { ...task, id: shareOnce(task.id), prompt: shareOnce(task.prompt) }
    words[row] = { row, ...rowWords({ task: shown, attempt, try: number, outcome: scrubbed(outcome, share) }) }
    if (whole.has(row)) texts.push([row, share(text)])
  }
  const dictionaries = scrubbed(columns.dictionaries, share)
  return {
    detail: { ...detail, dictionaries },
    columns: Buffer.from(encodeColumns({ ...columns, dictionaries })).toString('base64'),
    words,
    lines: Object.fromEntries(texts),
    grades: content.grades,
    gradeSummary,
  }
}

/** Texts of lines that are remembered: most lines of a run have the prompts of others. */
const REMEMBERED = 1_000

function remembered(of: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const found = known.get(text) ?? of(text)
    if (known.size < REMEMBERED) known.set(text, found)
    return found
  }
}

/** What computes the figures of verdicts is large, and most runs have none. */
const NO_GRADES = { format: 1, graders: [], agreements: [], alphas: [], corrected: [], orphans: 0 } as const

/** Reads the lines of a run once, and returns its rows. It keeps their figures, and neither words nor lines. */
async function embedRows(embedded: EmbeddedContent) {
  const { detail, lines, grades, seat, mostRows, mostCharacters, goesFirst } = embedded
  const unordered = createRowTable({ seat })
  const gradable = createGradableLines(seat)
  const found: number[] = []
  const lengths: number[] = []
  let count = 0
  for await (const text of lines()) {
    const line = count
    count += 1
    const record = sealedShape(jsonOf(text))
    if (!record) continue
    // Naming a line for its verdicts takes time, and most runs have none.
    if (grades.length > 0) gradable.add(record)
    const content = contentOf(record, text)
    if (unordered.addRow(rowOf(record, seat), { offset: line, length: text.length, content }) === null) continue
    found.push(line)
    lengths.push(text.length)
  }
  const order = keptRows(unordered, mostRows).sort((a, b) => compareRows(unordered, a, b))
  const table = createRowTable({ seat })
  const rows: number[] = new Array(count).fill(-1)
  for (const [row, place] of order.entries()) {
    table.addRow(unordered.row(place), unordered.place(place))
    rows[found[place] as number] = row
  }
  const columns = table.columns()
  const sampled = sampleRows(columns, columns.columns.draw ?? [])
  const first = goesFirst
    ? sampled.filter((row) =>
        goesFirst({ task: table.tasks[table.at('task', row)] ?? '', attempt: table.at('attempt', row) }),
      )
    : []
  const whole = new Set<number>()
  let left = mostCharacters
  for (const row of new Set([...first, ...sampled])) {
    const length = lengths[order[row] as number] as number
    if (length > left) continue
    left -= length
    whole.add(row)
  }
  return {
    detail: { ...detail, rows: table.size, dictionaries: columns.dictionaries },
    columns,
    /** By the number of a line, from 0: its row; -1 for a line that is none, or that is left out. */
    rows,
    whole,
    gradeSummary: {
      ...NO_GRADES,
      ...(grades.length > 0 &&
        (await import('@episodic/report/grades/grade-summary')).summarizeGrades(
          detail.entry.name,
          grades,
          gradable.list(),
        )),
      run: detail.entry.name,
      episodes: detail.summary.counts.finished,
    },
  }
}

/**
 * Returns the rows of a page. If not all fit, only rows that count: which row of an episode does would change without
 * the others.
 */
function keptRows(table: RowTable, most: number): number[] {
  if (table.size <= most) return Array.from({ length: table.size }, (_, row) => row)
  const columns = table.columns()
  return sampleRows(columns, columns.columns.draw ?? [])
    .filter((row) => table.at('counts', row) === 1)
    .slice(0, most)
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
