import { exactSum } from '../fold/exact-sum.ts'
import { type EpisodeColumns, readColumns } from './columns.ts'

/** What the rows of a run took. All tries are in it, because all were waited for and paid. */
export interface RowTimes {
  readonly modelSteps: number
  /** Milliseconds of the models, and of waiting for them; `null` if no model was asked. */
  readonly model: number | null
  readonly waited: number | null
  /** Milliseconds of the world's steps, and how many steps those are; `null` if unknown. */
  readonly world: number | null
  readonly worldSteps: number
  readonly cached: number | null
}

export const TIME_COLUMNS = [
  'steps',
  'cachedTokens',
  'modelMilliseconds',
  'waitedMilliseconds',
  'worldMilliseconds',
] as const

/** Sums what rows took. Throws a `RangeError` without {@link TIME_COLUMNS}. */
export function rowTimes(episodes: EpisodeColumns): RowTimes {
  const at = readColumns(episodes, TIME_COLUMNS)
  const rows = Array.from({ length: episodes.rows }, (_, row) => row)
  const sum = (name: (typeof TIME_COLUMNS)[number], of = name) => {
    const known = rows.filter((row) => !Number.isNaN(at(of, row)))
    return known.length > 0 ? exactSum(known.map((row) => at(name, row))) : null
  }
  return {
    modelSteps: sum('steps', 'modelMilliseconds') ?? 0,
    model: sum('modelMilliseconds'),
    waited: sum('waitedMilliseconds'),
    world: sum('worldMilliseconds'),
    worldSteps: sum('steps', 'worldMilliseconds') ?? 0,
    cached: sum('cachedTokens'),
  }
}
