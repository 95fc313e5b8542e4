import { OUTCOMES } from '../fold/episode-table.ts'
import { SPLITS } from '../fold/task-groups.ts'
import type { Column, ColumnName, EpisodeColumns } from '../rows/columns.ts'

/** Reads a number of a row; `NaN` where it is unknown. */
export type NumberOf = (row: number) => number
/** `null` where they are unknown. */
export type WordsOf = (row: number) => readonly string[] | null

export type QueryField =
  | { readonly kind: 'number'; readonly columns: readonly ColumnName[]; read(columns: ReadColumn): NumberOf }
  | {
      readonly kind: 'word'
      readonly columns: readonly ColumnName[]
      readonly values: readonly string[] | null
      read(columns: ReadColumn, episodes: EpisodeColumns): WordsOf
    }
  | { readonly kind: 'task' }
  | { readonly kind: 'grade' }

export type ReadColumn = (name: ColumnName) => Column

const YES_NO = ['yes', 'no'] as const

/** How an episode ended: `succeeded` (also if truncated), `truncated`, `failed`, otherwise `fell-short`. */
export const RESULTS = ['succeeded', 'fell-short', 'truncated', 'failed'] as const
export type Result = (typeof RESULTS)[number]

export function resultOf(kind: 'failed' | 'terminated' | 'truncated', success: boolean): Result {
  if (kind === 'failed') return 'failed'
  if (success) return 'succeeded'
  return kind === 'truncated' ? 'truncated' : 'fell-short'
}

/** The fields of a query by name. Times are in seconds. */
export const QUERY_FIELDS: { readonly [name: string]: QueryField } = {
  result: oneWord(['success', 'outcome'], RESULTS, (success, outcome) =>
    resultOf(OUTCOMES[outcome]?.kind ?? 'failed', success === 1),
  ),
  // A failed episode is neither: nobody knows.
  success: oneWord(['success', 'outcome'], YES_NO, (success, outcome) =>
    isFailed(outcome) ? null : yesOrNo(success === 1),
  ),
  failed: {
    kind: 'word',
    columns: ['outcome', 'ending'],
    values: null,
    read: (column, { dictionaries }) => {
      const [outcome, ending] = [column('outcome'), column('ending')]
      const codes = dictionaries.ending.map((code) => ['yes', code])
      return (row) => (isFailed(outcome[row]) ? (codes[ending[row] as number] ?? ['yes']) : NO)
    },
  },
  truncated: oneWord(['outcome'], YES_NO, (outcome) => yesOrNo(OUTCOMES[outcome]?.kind === 'truncated')),
  // Empty is what is not known.
  ending: oneWord(['ending'], null, (ending, _, { dictionaries }) => dictionaries.ending[ending] || null),
  player: oneWord(['player'], null, (player, _, { dictionaries }) => dictionaries.player[player] || null),
  version: oneWord(['version'], null, (version, _, { dictionaries }) => dictionaries.version[version] || null),
  tag: {
    kind: 'word',
    columns: ['tags'],
    values: null,
    read: (column, { dictionaries }) => {
      const tags = column('tags')
      return (row) => dictionaries.tags[tags[row] as number] ?? []
    },
  },
  split: oneWord(['split'], SPLITS, (split) => SPLITS[split] ?? null),
  counts: oneWord(['counts'], YES_NO, (counts) => yesOrNo(counts === 1)),
  return: plain('unshaped'),
  total: plain('total'),
  discounted: plain('discounted'),
  steps: plain('steps'),
  refused: plain('refused'),
  difficulty: plain('difficulty'),
  staleness: plain('staleness'),
  attempt: plain('attempt'),
  try: plain('try'),
  tree: plain('tree'),
  tokens: {
    kind: 'number',
    columns: ['promptTokens', 'completionTokens'],
    read: (column) => {
      const [read, written] = [column('promptTokens'), column('completionTokens')]
      // None were counted: no number, rather than a small one.
      return (row) => (read[row] === 0 ? Number.NaN : (read[row] as number) + (written[row] as number))
    },
  },
  read: plain('promptTokens'),
  cached: plain('cachedTokens'),
  written: plain('completionTokens'),
  cost: plain('cost'),
  model: plain('modelMilliseconds', 1_000),
  waited: plain('waitedMilliseconds', 1_000),
  world: plain('worldMilliseconds', 1_000),
  took: {
    kind: 'number',
    columns: ['started', 'ended'],
    read: (column) => {
      const [started, ended] = [column('started'), column('ended')]
      return (row) => ((ended[row] as number) - (started[row] as number)) / 1_000
    },
  },
  cut: plain('cut'),
  task: { kind: 'task' },
}

/** Fields that are known before an episode is played. */
const GIVEN = new Set('task split tag difficulty attempt tree player version counts'.split(' '))

/** Whether a field chooses episodes by what became of them, so that a rate of them has no interval. */
export function isResult(field: string): boolean {
  return !GIVEN.has(field)
}

/** The field of a name: those above, `term.<name>`, `verdict.<name>` of the world, and `grade.<name>` of a grader. */
export function fieldOf(name: string): QueryField | null {
  if (Object.hasOwn(QUERY_FIELDS, name)) return QUERY_FIELDS[name] as QueryField
  if (/^term\../.test(name)) return plain(name as `term.${string}`)
  if (/^verdict\../.test(name))
    return oneWord([`term.${name}`], YES_NO, (value) => (Number.isNaN(value) ? null : yesOrNo(value === 1)))
  return /^grade\../.test(name) ? { kind: 'grade' } : null
}

const NO: readonly string[] = ['no']

function isFailed(outcome: number | undefined): boolean {
  return OUTCOMES[outcome as number]?.kind === 'failed'
}

function yesOrNo(value: boolean): (typeof YES_NO)[number] {
  return value ? 'yes' : 'no'
}

function oneWord(
  columns: readonly [ColumnName, ColumnName?],
  values: readonly string[] | null,
  wordOf: (first: number, second: number, episodes: EpisodeColumns) => string | null,
): QueryField {
  const [one, other = one] = columns
  return {
    kind: 'word',
    columns: columns as readonly ColumnName[],
    values,
    read: (column, episodes) => {
      const [first, second] = [column(one), column(other)]
      const lists = new Map<string, readonly string[]>()
      return (row) => {
        const word = wordOf(first[row] as number, second[row] as number, episodes)
        if (word === null) return null
        const known = lists.get(word) ?? [word]
        lists.set(word, known)
        return known
      }
    },
  }
}

function plain(name: ColumnName, unit = 1): QueryField {
  return {
    kind: 'number',
    columns: [name],
    read: (column) => {
      const values = column(name)
      return unit === 1 ? (row) => values[row] as number : (row) => (values[row] as number) / unit
    },
  }
}
