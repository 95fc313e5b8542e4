import type { RowWords } from '@episodic/report/view/run-entry'

export interface EpisodeRows {
  readonly shown: RowWords
  readonly tries: readonly RowWords[]
}

/**
 * Finds the lines of an attempt among those of its task.
 *
 * @param wanted - the try to show; `null` for the one that counts: the first that finished, else the last.
 * @returns `null` if there is none.
 */
export function findRow(words: readonly RowWords[], attempt: number, wanted: number | null): EpisodeRows | null {
  const tries = words.filter((row) => row.attempt === attempt).sort((a, b) => a.try - b.try || a.row - b.row)
  const finished = tries.find(({ message }) => message === null)
  const shown = wanted === null ? (finished ?? tries.at(-1)) : tries.find((row) => row.try === wanted)
  return shown ? { shown, tries } : null
}
