import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { type Source, SourceError } from './source.ts'

export const SourceContext = createContext<Source | null>(null)

/** The source of the page. */
export function useSource(): Source {
  const source = useContext(SourceContext)
  if (!source) throw new Error('There is no source around this component.')
  return source
}

/** What a source answered so far. While something is loaded again, and if the source is gone, the value before it stays. */
export interface Loaded<T> {
  readonly value: T | null
  readonly error: SourceError | null
  readonly loading: boolean
}

/** Loads something, and again whenever a dependency or the `version` of its run changes. */
export function useLoaded<T>(load: (source: Source) => Promise<T>, dependencies: readonly unknown[]): Loaded<T> {
  const source = useSource()
  const [state, setState] = useState<Loaded<T>>({ value: null, error: null, loading: true })
  useEffect(() => {
    let current = true
    setState((before) => ({ ...before, loading: true }))
    load(source).then(
      (value) => current && setState({ value, error: null, loading: false }),
      (thrown) => {
        const error = asSourceError(thrown)
        if (!current) return
        setState(({ value }) => ({ value: error.code === 'unreachable' ? value : null, error, loading: false }))
      },
    )
    return () => {
      current = false
    }
  }, [source, ...dependencies])
  return state
}

/** A number that grows whenever the source says that a run has changed: a dependency for {@link useLoaded}. */
export function useVersion(run: string | null): number {
  const source = useSource()
  const [version, setVersion] = useState(0)
  useEffect(
    () =>
      source.watch(
        (changed) => (run === null || changed === null || changed === run) && setVersion((before) => before + 1),
      ),
    [source, run],
  )
  return version
}

function asSourceError(error: unknown): SourceError {
  return error instanceof SourceError ? error : new SourceError('failed', (error as Error).message)
}
