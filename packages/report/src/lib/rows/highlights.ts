import { OUTCOMES } from '../fold/episode-table.ts'
import { type EpisodeColumns, readColumns } from './columns.ts'

export type HighlightReason = 'failed' | 'no-variance' | 'refused' | 'truncated' | 'cut' | 'longest' | 'dearest'

export interface Highlight {
  readonly reason: HighlightReason
  /** How many episodes there are; for `no-variance`, how many tasks. */
  readonly count: number
  /** The most telling ones first, at most 40. */
  readonly rows: readonly number[]
}

export const PLAYED_COLUMNS = ['counts', 'task', 'attempt', 'outcome', 'success', 'unshaped', 'steps'] as const
export const HIGHLIGHT_COLUMNS = [...PLAYED_COLUMNS, 'refused', 'cost', 'cut'] as const

const MOST_ROWS = 40
/** How many episodes are the longest, and the dearest. */
const EXTREMES = 6

/**
 * Finds the episodes of a run that deserve a reader first: failed ones, tasks whose attempts all have one return (a
 * learner gets no signal from them), episodes with more than half of their steps refused, truncated ones, ones with
 * texts cut, and the longest and dearest. Reasons without an episode are left out.
 *
 * Throws a `RangeError` without {@link HIGHLIGHT_COLUMNS}.
 */
export function findHighlights(episodes: EpisodeColumns): Highlight[] {
  const at = readColumns(episodes, HIGHLIGHT_COLUMNS)
  const kindOf = (row: number) => OUTCOMES[at('outcome', row)]?.kind
  const counting: number[] = []
  for (let row = 0; row < episodes.rows; row++) if (at('counts', row) === 1) counting.push(row)
  const finished = counting.filter((row) => kindOf(row) !== 'failed')
  const most = (name: 'steps' | 'cost' | 'refused' | 'cut', rows: readonly number[] = counting) =>
    rows.filter((row) => at(name, row) > 0).toSorted((a, b) => at(name, b) - at(name, a) || a - b)
  const refused = finished.filter((row) => at('refused', row) > at('steps', row) / 2)
  const longest = most('steps')
  const dearest = most('cost')
  const found: { reason: HighlightReason; rows: readonly number[] }[] = [
    { reason: 'failed', rows: counting.filter((row) => kindOf(row) === 'failed') },
    { reason: 'no-variance', rows: withoutVariance(finished, at) },
    { reason: 'refused', rows: most('refused', refused) },
    { reason: 'truncated', rows: finished.filter((row) => kindOf(row) === 'truncated' && at('success', row) === 0) },
    { reason: 'cut', rows: most('cut') },
    { reason: 'longest', rows: isSpread(longest, (row) => at('steps', row)) ? longest.slice(0, EXTREMES) : [] },
    { reason: 'dearest', rows: isSpread(dearest, (row) => at('cost', row)) ? dearest.slice(0, EXTREMES) : [] },
  ]
  return found
    .filter(({ rows }) => rows.length > 0)
    .map(({ reason, rows }) => ({ reason, count: rows.length, rows: rows.slice(0, MOST_ROWS) }))
}

/** The first episode of each task with at least two finished ones that all have the same return. */
function withoutVariance(
  finished: readonly number[],
  at: (name: 'task' | 'unshaped', row: number) => number,
): number[] {
  return [...Map.groupBy(finished, (row) => at('task', row)).values()].flatMap((rows) => {
    const [first] = rows
    if (first === undefined || rows.length < 2) return []
    return rows.every((row) => at('unshaped', row) === at('unshaped', first)) ? [first] : []
  })
}

/** Whether the first of ordered rows differs from the last: else none of them stands out. */
function isSpread(rows: readonly number[], value: (row: number) => number): boolean {
  const [first, last] = [rows[0], rows.at(-1)]
  return first !== undefined && last !== undefined && value(first) > value(last)
}
