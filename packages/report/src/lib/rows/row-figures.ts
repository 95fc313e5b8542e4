import { createRate } from '../fold/clustered-rate.ts'
import { OUTCOMES } from '../fold/episode-table.ts'
import { clusteredMean } from '../fold/statistics.ts'
import type { Estimate, Proportion } from '../fold/summary.ts'
import { type Column, type EpisodeColumns, readColumns } from './columns.ts'

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
export function rowFigures(episodes: EpisodeColumns, rows?: ArrayLike<number>): RowFigures {
  readColumns(episodes, FIGURE_COLUMNS)
  // A hundred thousand rows are counted anew at each key of a query: plain loops over the columns.
  const values = episodes.columns as { readonly [name in (typeof FIGURE_COLUMNS)[number]]: Column }
  const chosen = rows ?? Uint32Array.from({ length: episodes.rows }, (_, row) => row)
  const success = createRate()
  const [returns, clusters]: [number[], number[]] = [[], []]
  let [tasks, failed, steps, refused, last] = [0, 0, 0, 0, -1]
  for (const row of byTask(chosen, values)) {
    const task = values.task[row] as number
    if (task !== last) tasks += 1
    last = task
    steps += values.steps[row] as number
    refused += values.refused[row] as number
    if (OUTCOMES[values.outcome[row] as number]?.kind === 'failed') {
      failed += 1
      continue
    }
    success.add(task, values.success[row] === 1)
    returns.push(values.unshaped[row] as number)
    clusters.push(task)
  }
  let [asked, uncounted, tokens, cost] = [0, 0, 0, 0]
  for (let i = 0; i < chosen.length; i++) {
    const row = chosen[i] as number
    const read = values.promptTokens[row] as number
    if (Number.isNaN(read)) continue
    asked += 1
    if (read === 0) uncounted += 1
    tokens += read + (values.completionTokens[row] as number)
    cost += values.cost[row] as number
  }
  return {
    tasks,
    finished: returns.length,
    failed,
    steps,
    refused,
    success: success.finish(),
    unshaped: clusteredMean(returns, clusters),
    tokens: asked > 0 && uncounted === 0 ? tokens : null,
    cost: asked > 0 && !Number.isNaN(cost) ? cost : null,
  }
}

/** The rows that count, with those of one task side by side: sorted by the numbers of the tasks, in two passes. */
function byTask(
  rows: ArrayLike<number>,
  { counts, task }: { readonly counts: Column; readonly task: Column },
): Uint32Array {
  let most = -1
  for (let i = 0; i < rows.length; i++) most = Math.max(most, task[rows[i] as number] as number)
  const places = new Uint32Array(most + 2)
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number
    if (counts[row] === 1) places[(task[row] as number) + 1] = (places[(task[row] as number) + 1] as number) + 1
  }
  for (let i = 1; i < places.length; i++) places[i] = (places[i] as number) + (places[i - 1] as number)
  const sorted = new Uint32Array(places.at(-1) as number)
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number
    if (counts[row] !== 1) continue
    const number = task[row] as number
    const place = places[number] as number
    sorted[place] = row
    places[number] = place + 1
  }
  return sorted
}
