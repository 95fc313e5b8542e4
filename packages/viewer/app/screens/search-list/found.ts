import type { SearchHit, SearchProgress } from '@episodic/report/view/search-hit'

export interface FoundInRun {
  readonly run: string
  readonly hits: readonly SearchHit[]
  /** Counted; more than there are in `hits` if not all were sent. */
  readonly count: number
  readonly bytes: number
  readonly totalBytes: number
  readonly done: boolean
}

export function addAnswers(
  found: readonly FoundInRun[],
  answers: readonly (SearchHit | SearchProgress)[],
): readonly FoundInRun[] {
  const runs = new Map(found.map((one) => [one.run, one]))
  const hits = Map.groupBy(
    answers.filter((answer) => 'row' in answer),
    ({ run }) => run,
  )
  for (const [run, more] of hits) {
    const before = runs.get(run) ?? { run, hits: [], count: 0, bytes: 0, totalBytes: 0, done: false }
    const all = [...before.hits, ...more]
    runs.set(run, { ...before, hits: all, count: Math.max(before.count, all.length) })
  }
  for (const answer of answers) {
    if ('row' in answer) continue
    const { run, hits: count, bytes, totalBytes, done } = answer
    const before = runs.get(run)
    runs.set(run, {
      run,
      hits: before?.hits ?? [],
      count: Math.max(count, before?.hits.length ?? 0),
      bytes,
      totalBytes,
      done,
    })
  }
  return [...runs.values()]
}
