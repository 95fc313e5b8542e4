/**
 * The columns of a run's lines: one value for each distinct sealed line, which is a **row**, in the order of the file.
 * Where a figure is unknown, the value is `NaN`. Reward terms have columns of their own, `term.<name>`: the raw sum
 * over the episode. So have further verdicts of the world, `term.verdict.<name>`: 0 or 1.
 */
export const COLUMN_TYPES = {
  /** 1 for the line that counts for its episode, 0 for other tries and for lines that conflict with it. */
  counts: Uint8Array,
  /** Numbers the tasks of the run in the order of their first line. */
  task: Uint32Array,
  attempt: Uint32Array,
  try: Uint32Array,
  /** An index into `OUTCOMES`: how the episode ended. */
  outcome: Uint8Array,
  /** By the rule of the world or the default one. 0 also for a failed episode. */
  success: Uint8Array,
  /** Numbers in the dictionaries, see {@link Dictionaries}: the end's reason or the code of the failure, and so on. */
  ending: Uint16Array,
  player: Uint16Array,
  tags: Uint16Array,
  /** The version of the weights that wrote the oldest answer; an empty word if it is not known. */
  version: Uint16Array,
  /** Updates from that version to the newest one of an answer; `NaN` if they are not known. */
  staleness: Float64Array,
  /** An index into `SPLITS`. */
  split: Uint8Array,
  /** The number of its tree within the task, from 1; 0 for none. */
  tree: Uint32Array,
  difficulty: Float64Array,
  /** A pseudo-random rank of the episode: the first n in its order are a random sample that anyone can draw again. */
  draw: Float64Array,
  /** Returns are `NaN` for a failed episode. */
  unshaped: Float64Array,
  total: Float64Array,
  discounted: Float64Array,
  steps: Uint32Array,
  refused: Uint32Array,
  /** Milliseconds since the start of the run. */
  started: Float64Array,
  ended: Float64Array,
  /** Sums over answers of models; `NaN` for none, 0 if one is not counted. `cachedTokens` is in `promptTokens`. */
  promptTokens: Float64Array,
  cachedTokens: Float64Array,
  completionTokens: Float64Array,
  /** In the currency of the run's prices; `NaN` unless every answer has a cost. */
  cost: Float64Array,
  /** Milliseconds of the models, of waiting for them (rate limits, pauses between tries), and of the world's steps. */
  modelMilliseconds: Float64Array,
  waitedMilliseconds: Float64Array,
  worldMilliseconds: Float64Array,
  /** Characters that were cut out of its transcript. */
  cut: Float64Array,
} as const

export type TermColumn = `term.${string}`
export type ColumnName = keyof typeof COLUMN_TYPES | TermColumn
export type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array

export interface Dictionaries {
  /** Reasons of ends and codes of failures. Number 0 is what was beyond the bound of 65,535. */
  readonly ending: readonly string[]
  readonly player: readonly string[]
  readonly version: readonly string[]
  readonly tags: readonly (readonly string[])[]
  /** Reward terms that have a column, at most 64, in the order of their names. */
  readonly terms: readonly string[]
}

export interface EpisodeColumns {
  readonly rows: number
  readonly dictionaries: Dictionaries
  readonly columns: { readonly [name in ColumnName]?: Column }
}

/** Returns what reads columns by row. Throws a `RangeError` if one of them is missing. */
export function readColumns<Name extends ColumnName>(
  { columns }: Pick<EpisodeColumns, 'columns'>,
  names: readonly Name[],
): (name: Name, row: number) => number {
  const missing = names.filter((name) => !columns[name])
  if (missing.length > 0) throw new RangeError(`These columns are missing: ${missing.join(', ')}.`)
  return (name, row) => columns[name]?.[row] as number
}
