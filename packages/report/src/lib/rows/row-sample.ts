import { OUTCOMES } from '../fold/episode-table.ts'
import type { EpisodeColumns } from './columns.ts'
import { findHighlights } from './highlights.ts'

/** How many episodes of each kind come first. */
const SIZES = { drawn: 100, best: 20, worst: 20, failed: 40 } as const

/**
 * Orders all rows by how much a page loses without them, for pages that cannot hold them all: a random sample of 100,
 * the 20 best and the 20 worst by unshaped return, 40 failed ones, those to look at first, and then the others.
 *
 * @param columns - with the columns of `findHighlights`.
 * @param draws - the rank of each row in the random order: see `drawOf`.
 */
export function sampleRows(columns: EpisodeColumns, draws: ArrayLike<number>): number[] {
  const { rows: size } = columns
  const { counts, outcome, unshaped } = columns.columns
  const draw = (row: number) => draws[row] as number
  const drawn = Array.from({ length: size }, (_, row) => row).sort((a, b) => draw(a) - draw(b) || a - b)
  const counting = drawn.filter((row) => counts?.[row] === 1)
  const isFailed = (row: number) => OUTCOMES[outcome?.[row] as number]?.kind === 'failed'
  const scored = counting.filter((row) => !isFailed(row))
  const byReturn = (sign: number) =>
    scored.toSorted((a, b) => sign * ((unshaped?.[a] as number) - (unshaped?.[b] as number)))
  return [
    ...new Set([
      ...counting.slice(0, SIZES.drawn),
      ...byReturn(-1).slice(0, SIZES.best),
      ...byReturn(1).slice(0, SIZES.worst),
      ...counting.filter(isFailed).slice(0, SIZES.failed),
      ...findHighlights(columns).flatMap(({ rows }) => rows),
      ...counting,
      ...drawn,
    ]),
  ]
}
