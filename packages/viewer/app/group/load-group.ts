import type { SealedRecord } from '@episodic/protocol'
import type { TaskRows } from '@episodic/report/view/run-entry'
import { loadWords } from '../episode/load-episode.ts'
import type { Source } from '../source/source.ts'
import { ATTEMPT_COLUMNS, type Attempt, attemptInColumns, attemptOf, countingLines } from './attempts.ts'

/** Most lines that are read for the tree of actions, and for a tree of forks. */
export const MOST_LINES = 64
const AT_ONCE = 8

export interface LoadedGroup {
  readonly task: TaskRows
  readonly attempts: readonly Attempt[]
  /** The lines of the first attempts, at most {@link MOST_LINES}. */
  readonly records: readonly SealedRecord[]
}

export async function loadGroup(source: Source, run: string, task: TaskRows): Promise<LoadedGroup> {
  const lines = countingLines(await loadWords(source, run, task.rows))
  const records = await loadLines(source, run, lines.slice(0, MOST_LINES))
  // Only a group that is too large to be read whole needs columns, which are of the whole run.
  const columns = lines.length > MOST_LINES ? await source.columns(run, ATTEMPT_COLUMNS) : null
  const attempts = lines.map(({ words, tries }, i) => {
    const record = records[i]
    if (columns) return attemptInColumns(words, tries, columns)
    return attemptOf(words, tries, record as SealedRecord)
  })
  return { task, attempts, records }
}

export async function loadLines(
  source: Source,
  run: string,
  lines: ReturnType<typeof countingLines>,
): Promise<SealedRecord[]> {
  const records: SealedRecord[] = []
  for (let from = 0; from < lines.length; from += AT_ONCE) {
    const some = lines.slice(from, from + AT_ONCE)
    const found = await Promise.all(some.map(({ words }) => source.line(run, words.row)))
    records.push(...found.map(({ record }) => record))
  }
  return records
}
