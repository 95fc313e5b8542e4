import { OUTCOMES } from '../fold/episode-table.ts'
import { exactSum } from '../fold/exact-sum.ts'
import { type EpisodeColumns, readColumns } from './columns.ts'
import { PLAYED_COLUMNS } from './highlights.ts'

export interface TaskFigures {
  readonly task: number
  readonly rows: readonly number[]
  readonly finished: number
  readonly failed: number
  readonly successes: number
  /** Mean and deviation (over n − 1) of the unshaped return; `null` without a finished episode, and without two. */
  readonly mean: number | null
  readonly deviation: number | null
  readonly difficulty: number
  readonly split: number
  readonly steps: number | null
}

export const TASK_COLUMNS = [...PLAYED_COLUMNS, 'difficulty', 'split'] as const

/** Computes the figures of every task, in the order of numbers. Throws a `RangeError` without {@link TASK_COLUMNS}. */
export function taskFigures(episodes: EpisodeColumns): TaskFigures[] {
  const at = readColumns(episodes, TASK_COLUMNS)
  const tasks = new Map<number, number[]>()
  for (let row = 0; row < episodes.rows; row++) {
    if (at('counts', row) === 0) continue
    const task = at('task', row)
    const rows = tasks.get(task)
    if (rows) rows.push(row)
    else tasks.set(task, [row])
  }
  return [...tasks]
    .sort(([a], [b]) => a - b)
    .map(([task, unordered]) => {
      const rows = unordered.sort((a, b) => at('attempt', a) - at('attempt', b))
      const finished = rows.filter((row) => OUTCOMES[at('outcome', row)]?.kind !== 'failed')
      const [first = 0] = rows
      return {
        task,
        rows,
        finished: finished.length,
        failed: rows.length - finished.length,
        successes: finished.filter((row) => at('success', row) === 1).length,
        ...spreadOf(finished.map((row) => at('unshaped', row))),
        difficulty: at('difficulty', first),
        split: at('split', first),
        steps: finished.length > 0 ? exactSum(finished.map((row) => at('steps', row))) / finished.length : null,
      }
    })
}

function spreadOf(values: readonly number[]): Pick<TaskFigures, 'mean' | 'deviation'> {
  if (values.length === 0) return { mean: null, deviation: null }
  const mean = exactSum(values) / values.length
  if (values.length === 1) return { mean, deviation: null }
  const isSame = values.every((value) => value === values[0])
  const squares = exactSum(values.map((value) => (value - mean) ** 2))
  return { mean, deviation: isSame ? 0 : Math.sqrt(squares / (values.length - 1)) }
}
