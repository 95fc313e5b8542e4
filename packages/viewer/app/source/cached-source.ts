import type { Column, ColumnName, EpisodeColumns } from '@episodic/report/rows/columns'
import type { RowWords } from '@episodic/report/view/run-entry'
import type { Source } from './source.ts'

const MOST_WORDS = 5_000
/** Milliseconds between two notices of one run: what changes faster than a reader reads is not shown faster. */
const PAUSE = 400
/** After a notice, a page rests at least so many times as long as it was busy: the run may need the processor. */
const REST = 4

/** What does not change is asked for once: words of rows, and the rest until the source says otherwise. */
export function createCachedSource(source: Source): Source {
  const runs = keepAnswers(() => source.runs())
  const details = keepAnswers((run) => source.run(run))
  const listings = keepAnswers((run) => source.listing(run))
  const columns = new Map<string, Promise<EpisodeColumns>>()
  const words = new Map<string, RowWords>()
  const listeners = new Set<(run: string | null) => void>()
  const notices = createNotices((run) => {
    for (const listener of listeners) listener(run)
  })

  // Also of a source that never changes by itself, a person's verdicts are news.
  source.watch((run) => {
    runs.forget(null)
    details.forget(run)
    listings.forget(run)
    if (run === null) columns.clear()
    else columns.delete(run)
    notices(run)
  })

  return {
    ...source,
    runs: () => runs(''),
    run: details,
    listing: listings,
    async columns(run, names) {
      const known = await columns.get(run)?.catch(() => undefined)
      const missing = known ? names.filter((name) => !known.columns[name] && isThere(known, name)) : names
      if (known && missing.length === 0) return known
      const asked = source.columns(run, missing).then((more) => {
        // The run has grown in between: columns of different lengths cannot be put together.
        if (known && known.rows !== more.rows)
          return source.columns(run, [...new Set([...(Object.keys(known.columns) as ColumnName[]), ...names])])
        return { ...more, columns: { ...known?.columns, ...more.columns } as { [name in ColumnName]?: Column } }
      })
      columns.set(run, asked)
      asked.catch(() => columns.delete(run))
      return asked
    },
    async words(run, rows) {
      const missing = rows.filter((row) => !words.has(`${run} ${row}`))
      if (missing.length > 0) {
        for (const answered of await source.words(run, missing)) words.set(`${run} ${answered.row}`, answered)
      }
      const found = rows.flatMap((row) => words.get(`${run} ${row}`) ?? [])
      for (const key of words.keys()) {
        if (words.size <= MOST_WORDS) break
        words.delete(key)
      }
      return found
    },
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Whether a run may have a column: asking again for a term that it lacks would ask for ever. */
function isThere({ dictionaries }: EpisodeColumns, name: ColumnName): boolean {
  return !name.startsWith('term.') || dictionaries.terms.includes(name.slice(5))
}

/** Counts the milliseconds of the page's long tasks. It stays at 0 in a browser that does not report them. */
function countBusyTime(): () => number {
  let sum = 0
  new PerformanceObserver((tasks) => {
    for (const { duration } of tasks.getEntries()) sum += duration
  }).observe({ entryTypes: ['longtask'] })
  return () => sum
}

/** Passes the first notice of a run on at once, and those that follow soon as one. */
function createNotices(listener: (run: string | null) => void): (run: string | null) => void {
  const waiting = new Map<string | null, boolean>()
  const busy = countBusyTime()
  const next = (run: string | null) => {
    const again = waiting.get(run)
    waiting.delete(run)
    if (again) pass(run)
  }
  const pass = (run: string | null) => {
    waiting.set(run, false)
    const before = busy()
    listener(run)
    setTimeout(() => {
      const rest = (busy() - before) * REST - PAUSE
      if (rest > 0) setTimeout(next, rest, run)
      else next(run)
    }, PAUSE)
  }
  return (run) => {
    if (waiting.has(run)) waiting.set(run, true)
    else pass(run)
  }
}

/** Asks for each key once, until `forget`. A failed answer is asked for again. */
function keepAnswers<T>(ask: (key: string) => Promise<T>) {
  const kept = new Map<string, Promise<T>>()
  const answerOf = (key: string): Promise<T> => {
    const known = kept.get(key)
    if (known) return known
    const asked = ask(key)
    kept.set(key, asked)
    asked.catch(() => kept.delete(key))
    return asked
  }
  const forget = (key: string | null) => (key === null ? kept.clear() : kept.delete(key))
  return Object.assign(answerOf, { forget })
}
