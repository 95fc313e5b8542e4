import type { RowWords } from '@episodic/report'
import { useEffect, useState } from 'preact/hooks'
import { useSource } from '../../source/use-source.ts'

/** Rows of one request. */
const AT_ONCE = 200

/**
 * The words of rows that are shown, as far as they are loaded. Rows that are passed by quickly are not asked for: a request
 * waits until the rows stay the same for a moment.
 */
export function useWords(run: string, rows: readonly number[]): ReadonlyMap<number, RowWords> {
  const source = useSource()
  const [words, setWords] = useState<ReadonlyMap<number, RowWords>>(new Map())
  const key = `${run} ${rows.join()}`
  useEffect(() => {
    let current = true
    const timer = setTimeout(async () => {
      const batches = Array.from({ length: Math.ceil(rows.length / AT_ONCE) }, (_, i) =>
        source.words(run, rows.slice(i * AT_ONCE, (i + 1) * AT_ONCE)),
      )
      // What could not be loaded is left out; the columns say what they say without it.
      const answers = await Promise.all(batches.map((batch) => batch.catch(() => [])))
      if (current) setWords(new Map(answers.flat().map((one) => [one.row, one])))
    }, 40)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [source, key])
  return words
}
