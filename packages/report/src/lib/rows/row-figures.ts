import { createRate } from '../fold/clustered-rate.ts'
import { OUTCOMES } from '../fold/episode-table.ts'
import { clusteredMean } from '../fold/statistics.ts'
import type { Estimate, Proportion } from '../fold/summary.ts'
import type { EpisodeColumns } from './columns.ts'

/** The main figures of some rows, as a summary has them. Only rows that count are in them. */
export interface RowFigures {
  readonly tasks: number
  readonly finished: number
  /** In no other figure but `steps`, `refused` and the tokens. */
  readonly failed: number
  readonly steps: number
  readonly refused: number
  readonly success: Proportion
  readonly unshaped: Estimate | null
  /** Tokens read and written, of all tries; `null` if no language model was asked. */
  readonly tokens: number | null
  /** Of all tries; `null` unless every answer has a cost. */
  readonly cost: number | null
}

/** The columns that {@link rowFigures} reads. */
export const FIGURE_COLUMNS = [
  'counts',
  'task',
  'outcome',
  'success',
  'unshaped',
  'steps',
  'refused',
  'promptTokens',
  'completionTokens',
  'cost',
] as const

/**
 * Computes the main figures of rows.
 *
 * @param columns - with all of {@link FIGURE_COLUMNS}. Throws a `RangeError` without them.
 * @param rows - the numbers of the rows. Default: all.
 */
export function rowFigures({ rows: size, columns }: EpisodeColumns, rows?: ArrayLike<number>): RowFigures {
  const missing = FIGURE_COLUMNS.filter((name) => !columns[name])
  if (missing.length > 0) throw new RangeError(`These columns are missing: ${missing.join(', ')}.`)
  const at = (name: (typeof FIGURE_COLUMNS)[number], row: number) => columns[name]?.[row] as number
  const chosen = rows ? Array.from(rows) : Array.from({ length: size }, (_, row) => row)
  // Episodes of one task have to be adjacent.
  const counting = chosen.filter((row) => at('counts', row) === 1).sort((a, b) => at('task', a) - at('task', b))
  const success = createRate()
  const [returns, clusters]: [number[], number[]] = [[], []]
  let [tasks, failed, steps, refused, last] = [0, 0, 0, 0, -1]
  for (const row of counting) {
    const task = at('task', row)
    if (task !== last) tasks += 1
    last = task
    steps += at('steps', row)
    refused += at('refused', row)
    if (OUTCOMES[at('outcome', row)]?.kind === 'failed') {
      failed += 1
      continue
    }
    success.add(task, at('success', row) === 1)
    returns.push(at('unshaped', row))
    clusters.push(task)
  }
  const asked = chosen.filter((row) => !Number.isNaN(at('promptTokens', row)))
  const sum = (name: 'promptTokens' | 'completionTokens' | 'cost') =>
    asked.reduce((total, row) => total + at(name, row), 0)
  const cost = sum('cost')
  return {
    tasks,
    finished: returns.length,
    failed,
    steps,
    refused,
    success: success.finish(),
    unshaped: clusteredMean(returns, clusters),
    tokens: asked.length > 0 ? sum('promptTokens') + sum('completionTokens') : null,
    cost: asked.length > 0 && !Number.isNaN(cost) ? cost : null,
  }
}
