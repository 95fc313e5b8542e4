import { hasFour, openColumns, ROWS } from './board.ts'

/** The columns from the centre outwards: those in the centre are in more lines, so they are searched first. */
const CENTRE_FIRST = [3, 2, 4, 1, 5, 0, 6]

export interface BestColumn {
  readonly column: number
  /** `won` or `lost` if perfect play of both leads to it within the searched moves. */
  readonly outcome: 'won' | 'lost' | 'open'
}

/**
 * Searches for the best column of the side that is to move, with all answers for so many moves of both (negamax with
 * alpha-beta pruning). A quick win and a late loss are better, and of equally good columns that nearest to the centre.
 * The board must not be full or won.
 */
export function bestColumn(columns: readonly string[], plies: number): BestColumn {
  const { column, value } = search(columns, plies, -plies, plies)
  return { column, outcome: value === 0 ? 'open' : value > 0 ? 'won' : 'lost' }
}

/** A value is how many moves a win leaves unsearched, negative for a loss, and 0 if neither is certain. */
function search(columns: readonly string[], plies: number, low: number, high: number) {
  let best = { column: -1, value: Number.NEGATIVE_INFINITY }
  for (const column of CENTRE_FIRST) {
    if (columns[column]?.length === ROWS) continue
    const value = dropValue(columns, column, plies, Math.max(low, best.value), high)
    if (value > best.value) best = { column, value }
    if (value >= high) break
  }
  return best
}

function dropValue(columns: readonly string[], column: number, plies: number, low: number, high: number): number {
  const disc = columns.join('').length % 2 === 0 ? 'X' : 'O'
  const next = columns.with(column, `${columns[column]}${disc}`)
  if (hasFour(next, column)) return plies
  if (plies === 1 || openColumns(next).length === 0) return 0
  return 0 - search(next, plies - 1, -high, -low).value
}
