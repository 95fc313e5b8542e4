import type { RowWords } from '@episodic/report/view/run-entry'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useSource } from '../../source/use-source.ts'

const AT_ONCE = 200

/** Milliseconds for which rows have to stay the same before their words are asked for. */
const PAUSE = 40

/** The loaded words of shown rows. Rows that are passed by quickly are not asked for, but the first. */
export function useWords(run: string, rows: readonly number[]): ReadonlyMap<number, RowWords> {
  const source = useSource()
  const [words, setWords] = useState<ReadonlyMap<number, RowWords>>(new Map())
  const asked = useRef(false)
  const key = `${run} ${rows.join()}`
  useLayoutEffect(() => {
    let current = true
    if (rows.length === 0) return
    const load = async () => {
      asked.current = true
      const batches = Array.from({ length: Math.ceil(rows.length / AT_ONCE) }, (_, i) =>
        source.words(run, rows.slice(i * AT_ONCE, (i + 1) * AT_ONCE)),
      )
      // What could not be loaded is left out; the columns say what they say without it.
      const answers = await Promise.all(batches.map((batch) => batch.catch(() => [])))
      if (current) setWords(new Map(answers.flat().map((one) => [one.row, one])))
    }
    const timer = setTimeout(load, asked.current ? PAUSE : 0)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [source, key])
  return words
}
