import type { GradeTable } from '@episodic/report/grades/grade-table'
import { fieldOf } from '@episodic/report/query/query-fields'
import type { Column, ColumnName, Dictionaries, EpisodeColumns } from '@episodic/report/rows/columns'
import { formatCount, formatDuration, formatNumber, NOTHING } from '@episodic/report/text/format'
import type { RowWords } from '@episodic/report/view/run-entry'
import type { ComponentChildren } from 'preact'
import { formatTokens } from '../../parts/amounts.ts'
import { plain } from '../../parts/plain-text.tsx'

/** A column of the list that a reader may choose. Its field is what a query calls it. */
export interface ListColumn {
  readonly field: string
  readonly title: string
  readonly explained?: string
  /** In pixels. */
  readonly width: number
  readonly numeric: boolean
  readonly columns: readonly ColumnName[]
  cells(episodes: EpisodeColumns): (row: number, words: RowWords | undefined) => ComponentChildren
}

export function listColumns({ terms }: Dictionaries, grades: GradeTable): ListColumn[] {
  return [
    number('return', 'Return', 76, { by: aligned }, 'The unshaped return.'),
    number('total', 'Shaped', 76, { by: aligned }, 'The return with shaping.'),
    number('discounted', 'Discounted', 88, { by: aligned }, 'The discounted return, with shaping.'),
    ...terms.map((term) =>
      isVerdict(term)
        ? word(term, term.slice('verdict.'.length), 88)
        : number(`term.${term}`, term, 88, { by: aligned }, `The reward term ${term}, summed up.`),
    ),
    number('steps', 'Steps', 64, formatCount),
    number('refused', 'Refused', 72, formatCount, 'Steps that the world refused.'),
    number('tokens', 'Tokens', 74, formatTokens, 'Tokens that models read and wrote.'),
    number('read', 'Read', 70, formatTokens, 'Tokens that models read.'),
    number('cached', 'Cached', 70, formatTokens, 'Tokens that models read from a cache.'),
    number('written', 'Written', 70, formatTokens, 'Tokens that models wrote.'),
    number('cost', 'Cost', 84, { by: alignedCost }),
    number('model', 'Model', 84, formatSeconds, 'Time of the models.'),
    number('waited', 'Waited', 84, formatSeconds, 'Time waited for models: rate limits, pauses between tries.'),
    number('world', 'World', 84, formatSeconds, "Time of the world's steps."),
    number('took', 'Took', 84, formatSeconds, 'Time from start to end.'),
    number('difficulty', 'Difficulty', 80, formatNumber),
    word('split', 'Split', 84),
    word('tag', 'Tags', 150),
    word('player', 'Player', 130),
    word('version', 'Policy version', 120),
    number('staleness', 'Staleness', 80, formatCount, 'Updates of the weights from its oldest to its newest answer.'),
    number('try', 'Try', 50, formatCount, 'The number of the try, from 0.'),
    number('tree', 'Tree', 54, formatCount, 'The number of its tree within the task.'),
    number('cut', 'Cut', 70, formatCount, 'Characters that were cut out of its transcript.'),
    ...grades.graders.map(
      (grader): ListColumn => ({
        field: `grade.${grader}`,
        title: grader,
        explained: `Verdicts of the grader ${grader}.`,
        width: 96,
        numeric: false,
        columns: [],
        cells: () => (_, words) => {
          const value = words ? grades.valueOf(grader, words) : null
          if (value === null) return words ? NOTHING : ''
          if (typeof value === 'boolean') return value ? '✓ yes' : '✗ no'
          return typeof value === 'number' ? formatNumber(value) : plain(value)
        },
      }),
    ),
  ]
}

const isVerdict = (term: string) => term.startsWith('verdict.')

/** The columns that are shown unless a reader chooses others: what this run has figures for. */
export function defaultFields({ terms, version }: Dictionaries, asksModels: boolean, table: GradeTable): string[] {
  const [verdicts = [], earned = []] = [true, false].map((is) => terms.filter((term) => isVerdict(term) === is))
  return [
    'return',
    ...verdicts,
    ...(earned.length > 1 ? earned.slice(0, 3).map((term) => `term.${term}`) : []),
    'steps',
    'refused',
    ...(asksModels ? ['tokens', 'cost', 'model'] : []),
    ...table.graders.map((grader) => `grade.${grader}`),
    ...(version.filter((name) => name !== '').length > 1 ? ['version'] : []),
    'took',
  ]
}

/** A number to sort rows by a field, words by their letters; `null` if there is none, or it is not loaded. */
export function sortKey(episodes: EpisodeColumns, name: string): ((row: number) => number) | null {
  const field = loadedField(episodes, name)
  if (field?.kind === 'number') return field.read((column) => episodes.columns[column] as Column)
  const textOf = textReader(episodes, name)
  if (!textOf) return null
  const texts = new Set<string>()
  for (let row = 0; row < episodes.rows; row++) {
    const text = textOf(row)
    if (text !== null) texts.add(text)
  }
  const ranks = new Map([...texts].sort().map((text, rank) => [text, rank]))
  return (row) => ranks.get(textOf(row) ?? '') ?? Number.NaN
}

/** A field that the columns of a row say, if all that it reads are loaded. */
function loadedField(episodes: EpisodeColumns, name: string) {
  const field = fieldOf(name)
  if (field?.kind !== 'number' && field?.kind !== 'word') return null
  return field.columns.every((column) => episodes.columns[column]) ? field : null
}

/** Returns the reader of the words of a field, `null` where they are unknown; itself `null` if there is none. */
function textReader(episodes: EpisodeColumns, name: string): ((row: number) => string | null) | null {
  const field = loadedField(episodes, name)
  if (field?.kind !== 'word') return null
  const wordsOf = field.read((column) => episodes.columns[column] as Column, episodes)
  return (row) => wordsOf(row)?.join(', ') ?? null
}

export function columnsOfField(name: string): readonly ColumnName[] {
  const field = fieldOf(name)
  return field?.kind === 'number' || field?.kind === 'word' ? field.columns : []
}

/** Formats the figures of one column with the same number of decimals, so that they can be compared by their places. */
function aligned(largest: number): (value: number) => string {
  const digits = largest >= 1_000 ? 1 : largest >= 100 ? 2 : 3
  return (value) => value.toFixed(digits).replace('-', '−')
}

function alignedCost(largest: number): (value: number) => string {
  const digits = largest >= 10 ? 2 : largest >= 0.1 ? 3 : 5
  return (value) => value.toFixed(digits)
}

function number(
  field: string,
  title: string,
  width: number,
  format: ((value: number) => string) | { readonly by: (largest: number) => (value: number) => string },
  explained?: string,
): ListColumn {
  return {
    field,
    title,
    ...(explained && { explained }),
    width,
    numeric: true,
    columns: columnsOfField(field),
    cells(episodes) {
      const key = sortKey(episodes, field) ?? (() => Number.NaN)
      const write = typeof format === 'function' ? format : format.by(largestOf(episodes.rows, key))
      return (row) => {
        const value = key(row)
        return Number.isNaN(value) ? NOTHING : write(value)
      }
    },
  }
}

function largestOf(rows: number, numberOf: (row: number) => number): number {
  let largest = 0
  for (let row = 0; row < rows; row++) {
    const size = Math.abs(numberOf(row))
    if (size > largest) largest = size
  }
  return largest
}

function word(field: string, title: string, width: number): ListColumn {
  return {
    field,
    title,
    width,
    numeric: false,
    columns: columnsOfField(field),
    cells(episodes) {
      const textOf = textReader(episodes, field)
      return (row) => plain(textOf?.(row) ?? '')
    },
  }
}

function formatSeconds(seconds: number): string {
  return formatDuration(seconds * 1_000)
}
