import { compileQuery, type QueryLookups } from '@episodic/report/query/compile-query'
import { parseQuery, type QueryProblem } from '@episodic/report/query/parse-query'
import type { Result } from '@episodic/report/query/query-fields'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { type RowFigures, rowFigures } from '@episodic/report/rows/row-figures'
import { type Order, sortRows } from '../../list/sort-rows.ts'
import { resultOfRow } from '../../parts/result.tsx'
import { sortKey } from './list-columns.tsx'
import { chosenResults, withoutResults } from './result-chips.tsx'

/** The rows that a query chooses, in no order but that of the file, with their figures. */
export interface ChosenRows {
  readonly rows: Uint32Array
  readonly problems: readonly QueryProblem[]
  /** How rows ended, among those that meet the rest of the query. */
  readonly results: { readonly [result in Result]: number }
  readonly figures: RowFigures
}

/** Chooses rows. The columns that the query and the figures read have to be there. */
export function chooseRows(query: string, episodes: EpisodeColumns, lookups: QueryLookups): ChosenRows {
  const { problems } = compileQuery(parseQuery(query), episodes, lookups)
  const chosen = new Set(chosenResults(query))
  const rest = compileQuery(parseQuery(withoutResults(query)), episodes, lookups)
  const results = { succeeded: 0, 'fell-short': 0, truncated: 0, failed: 0 }
  const rows = new Uint32Array(episodes.rows)
  let size = 0
  for (let row = 0; row < episodes.rows; row++) {
    if (!rest.matches(row)) continue
    const result = resultOfRow(episodes.columns, row)
    results[result] += 1
    if (chosen.size === 0 || chosen.has(result)) rows[size++] = row
  }
  const shown = rows.slice(0, size)
  return { rows: shown, problems, results, figures: rowFigures(episodes, shown) }
}

export function orderRows(rows: Uint32Array, episodes: EpisodeColumns, order: Order | null): Uint32Array {
  const key = order && sortKey(episodes, order.field)
  return key ? sortRows(rows, key, order.descending) : rows
}
