import { OUTCOMES } from '@episodic/report/fold/episode-table'
import { graderKeyOf } from '@episodic/report/grades/grade-fold'
import type { GradeRecord, GraderRef } from '@episodic/report/grades/grade-record'
import { toPlayKey } from '@episodic/report/grades/grade-table'
import type { RowWords } from '@episodic/report/view/run-entry'
import type { Source } from '../source/source.ts'

export interface LabelQueue {
  /** The next row, with its place in the draw; `null` if all are judged. */
  readonly next: (RowWords & { readonly draw: number }) | null
  /** Finished episodes that count, and how many of them the person has judged. */
  readonly total: number
  readonly judged: number
}

const PART = 100

/**
 * Finds the next episode that a person has not judged, in the order of the draw: it depends on hashes of the episodes
 * alone, so what is judged, wherever a person stops, is a random sample of the run, and all people judge the same
 * episodes first.
 */
export async function loadLabelQueue(
  source: Source,
  run: string,
  person: GraderRef,
  grades: readonly GradeRecord[],
): Promise<LabelQueue> {
  const { columns } = await source.columns(run, ['counts', 'outcome', 'draw'])
  const { counts = [], outcome = [], draw = [] } = columns
  const failed = OUTCOMES.findIndex(({ kind }) => kind === 'failed')
  const order = Array.from(counts.keys())
    .filter((row) => counts[row] === 1 && outcome[row] !== failed)
    .sort((a, b) => (draw[a] as number) - (draw[b] as number))
  const key = graderKeyOf(person)
  const judged = new Set(grades.filter(({ grader }) => graderKeyOf(grader) === key).map(toPlayKey))
  const found = { total: order.length, judged: judged.size }
  for (let from = 0; from < order.length; from += PART) {
    const words = await source.words(run, order.slice(from, from + PART))
    const next = words.find((one) => !judged.has(toPlayKey(one)))
    if (next) return { ...found, next: { ...next, draw: draw[next.row] as number } }
  }
  return { ...found, next: null }
}
