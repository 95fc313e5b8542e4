import type { SearchHit, SearchProgress } from '@episodic/report/view/search-hit'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type SearchQuery, SourceError } from '../../source/source.ts'
import { useSource } from '../../source/use-source.ts'
import { addAnswers, type FoundInRun } from './found.ts'

/** Milliseconds between two changes of the page: hits come by the thousand. */
const PAUSE = 100

interface Search {
  readonly found: readonly FoundInRun[]
  readonly state: 'searching' | 'cancelled' | 'done'
  readonly error: SourceError | null
}

export function useSearch({ text, runs, fields }: SearchQuery) {
  const source = useSource()
  const [state, setState] = useState<Search>({ found: [], state: 'done', error: null })
  const end = useRef(new AbortController())
  const key = JSON.stringify([text, runs, fields])
  useEffect(() => {
    if (text === '') {
      setState({ found: [], state: 'done', error: null })
      return
    }
    const controller = new AbortController()
    end.current = controller
    setState({ found: [], state: 'searching', error: null })
    let waiting: (SearchHit | SearchProgress)[] = []
    let left = false
    const show = () => {
      const answers = waiting
      waiting = []
      if (answers.length > 0 && !left) setState((before) => ({ ...before, found: addAnswers(before.found, answers) }))
    }
    const timer = setInterval(show, PAUSE)
    const read = async () => {
      for await (const answer of source.search({ text, runs, fields }, controller.signal)) {
        waiting.push(answer)
      }
    }
    read()
      .then(
        () => ({ state: 'done' as const, error: null }),
        (error) => {
          if (controller.signal.aborted) return { state: 'cancelled' as const, error: null }
          const known = error instanceof SourceError ? error : new SourceError('failed', error.message)
          return { state: 'done' as const, error: known }
        },
      )
      .then((ended) => {
        clearInterval(timer)
        show()
        if (!left) setState((before) => ({ ...before, ...ended }))
      })
    return () => {
      left = true
      clearInterval(timer)
      controller.abort()
    }
  }, [source, key])
  return { ...state, cancel: () => end.current.abort() }
}
