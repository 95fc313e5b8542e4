import type { Json } from '@episodic/protocol'
import { packArrays, unpackArrays } from '../rows/packed-arrays.ts'
import type { ComparedRuns } from './compared-runs.ts'
import type { RunEntry } from './run-entry.ts'

/** What a folder of static files says of its runs: the content of `runs.json.gz`. */
export interface StaticRuns {
  /** Version of the shape of all files of the folder. */
  readonly format: 1
  readonly title: string
  readonly runs: readonly RunEntry[]
  /** The comparisons, each in a file of its own. */
  readonly compared: readonly Pick<ComparedRuns, 'runs' | 'baseline' | 'leftOut'>[]
  /** Whether there are files of states. */
  readonly states: boolean
  /** What was left out and why, in sentences; empty if nothing was. */
  readonly withheld: readonly string[]
}

/**
 * Where the words and the lines of a run are. They are in files of some hundred rows each, so that a page reads a small
 * file for an episode, from any server. Their order is that in which the episodes were sealed.
 */
export interface StaticIndex {
  /** The ids of the tasks, by their number in the column `task`. */
  readonly tasks: readonly string[]
  /** By row: its place among all rows in the files, from 0. */
  readonly places: Uint32Array
  /** Rows in each file of words but the last. */
  readonly wordsPerFile: number
  /** The first place of each file of lines, rising. */
  readonly lineFiles: readonly number[]
}

/** The names of the files in a folder of static files; each is gzipped. */
export const STATIC_FILES = {
  runs: 'runs.json.gz',
  compared: (number: number) => `compared-${number}.json.gz`,
  detail: (run: string) => `${run}/run.json.gz`,
  columns: (run: string) => `${run}/columns.gz`,
  index: (run: string) => `${run}/index.gz`,
  grades: (run: string) => `${run}/grades.json.gz`,
  gradeSummary: (run: string) => `${run}/grade-summary.json.gz`,
  /** A list of `RowWords`. */
  words: (run: string, number: number) => `${run}/words-${number}.json.gz`,
  /** Sealed lines; an empty one for an episode that has figures only. */
  lines: (run: string, number: number) => `${run}/lines-${number}.jsonl.gz`,
  /** The states of these lines, a list of `EpisodeStates` or `null`. */
  states: (run: string, number: number) => `${run}/states-${number}.json.gz`,
} as const

/** Packs an index into bytes. */
export function packStaticIndex({ places, ...header }: StaticIndex): Uint8Array<ArrayBuffer> {
  return packArrays({ header: header as unknown as Json, arrays: { places } })
}

/** Returns the index in bytes of {@link packStaticIndex}. Throws a `RangeError` if they are something else. */
export function unpackStaticIndex(bytes: Uint8Array): StaticIndex {
  const { header, arrays } = unpackArrays(bytes)
  const { places } = arrays
  const index = header as unknown as Omit<StaticIndex, 'places'>
  if (!(places instanceof Uint32Array) || !index.tasks || !index.lineFiles)
    throw new RangeError('These packed arrays are no index of a run.')
  return { ...index, places }
}

/** Returns the number of the file of lines that has a place. */
export function lineFileOf({ lineFiles }: Pick<StaticIndex, 'lineFiles'>, place: number): number {
  let [low, high] = [0, lineFiles.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((lineFiles[middle] as number) <= place) low = middle
    else high = middle - 1
  }
  return low
}
