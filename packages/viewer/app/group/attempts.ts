import type { SealedRecord } from '@episodic/protocol'
import { OUTCOMES } from '@episodic/report/fold/episode-table'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { type Row, rowOf } from '@episodic/report/rows/row'
import type { RowWords } from '@episodic/report/view/run-entry'
import { findRow } from '../episode/find-row.ts'
import { type Result, resultOf } from '../parts/result.tsx'

export interface Attempt {
  readonly words: RowWords
  readonly tries: number
  readonly result: Result
  readonly ending: string
  /** `null` for a failed one. */
  readonly unshaped: number | null
  readonly steps: number
  readonly refused: number
  /** `null` if no model was asked. */
  readonly tokens: number | null
  /** `null` without prices. */
  readonly cost: number | null
  readonly modelMilliseconds: number | null
}

export const ATTEMPT_COLUMNS = [
  'outcome',
  'success',
  'ending',
  'unshaped',
  'steps',
  'refused',
  'promptTokens',
  'completionTokens',
  'cost',
  'modelMilliseconds',
] as const

/** The line of each attempt that counts, in their order, and how often the attempt was played. */
export function countingLines(words: readonly RowWords[]): { readonly words: RowWords; readonly tries: number }[] {
  const attempts = [...new Set(words.map(({ attempt }) => attempt))].sort((a, b) => a - b)
  return attempts.flatMap((attempt) => {
    const found = findRow(words, attempt, null)
    return found ? [{ words: found.shown, tries: found.tries.length }] : []
  })
}

export function attemptOf(words: RowWords, tries: number, record: SealedRecord, seat?: string): Attempt {
  return attemptOfRow(words, tries, rowOf(record, seat), (row) => row.ending)
}

export function attemptInColumns(words: RowWords, tries: number, { columns, dictionaries }: EpisodeColumns): Attempt {
  const values = Object.fromEntries(ATTEMPT_COLUMNS.map((name) => [name, columns[name]?.[words.row] ?? Number.NaN]))
  return attemptOfRow(
    words,
    tries,
    values as unknown as FigureRow,
    ({ ending }) => dictionaries.ending[Number(ending)] ?? '',
  )
}

type FigureRow = Pick<Row, Exclude<(typeof ATTEMPT_COLUMNS)[number], 'ending'>> & { readonly ending: string | number }

function attemptOfRow<R extends FigureRow>(
  words: RowWords,
  tries: number,
  row: R,
  endingOf: (row: R) => string,
): Attempt {
  const kind = OUTCOMES[row.outcome]?.kind ?? 'failed'
  return {
    words,
    tries,
    result: resultOf(kind, row.success === 1),
    ending: endingOf(row),
    unshaped: kind === 'failed' ? null : known(row.unshaped),
    steps: row.steps,
    refused: row.refused,
    tokens: known(row.promptTokens + row.completionTokens),
    cost: known(row.cost),
    modelMilliseconds: known(row.modelMilliseconds),
  }
}

function known(value: number): number | null {
  return Number.isNaN(value) ? null : value
}
