import { createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { asSourceError, type Source, type SourceError } from './source.ts'

export const SourceContext = createContext<Source | null>(null)

export function useSource(): Source {
  const source = useContext(SourceContext)
  if (!source) throw new Error('There is no source around this component.')
  return source
}

/** What a source answered so far: it stays while it is loaded again, and if the source is gone. */
export interface Loaded<T> {
  readonly value: T | null
  readonly error: SourceError | null
  readonly loading: boolean
}

/**
 * Loads something, and anew whenever a dependency changes.
 *
 * @param version - loads it again whenever it changes, see {@link useVersion}: after what is being loaded has arrived,
 *   so that many changes neither hold the first answer back nor send a request each.
 */
export function useLoaded<T>(
  load: (source: Source) => Promise<T>,
  dependencies: readonly unknown[],
  version = 0,
): Loaded<T> {
  const source = useSource()
  const [state, setState] = useState<Loaded<T>>({ value: null, error: null, loading: true })
  const latest = useRef({ load, version })
  latest.current = { load, version }
  const loadAgain = useRef(() => {})
  // Before the page is painted: a request need not wait for a frame.
  useLayoutEffect(() => {
    let current = true
    let isLoading = false
    const start = async () => {
      if (isLoading) return
      isLoading = true
      const { load, version } = latest.current
      setState((before) => ({ ...before, loading: true }))
      try {
        const value = await load(source)
        if (current) setState({ value, error: null, loading: false })
      } catch (thrown) {
        const error = asSourceError(thrown)
        if (current)
          setState(({ value }) => ({ value: error.code === 'unreachable' ? value : null, error, loading: false }))
      }
      isLoading = false
      if (current && latest.current.version !== version) void start()
    }
    loadAgain.current = () => void start()
    void start()
    return () => {
      current = false
    }
  }, [source, ...dependencies])
  useEffect(() => loadAgain.current(), [version])
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
