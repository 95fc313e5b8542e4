import type { RunEntry } from '@episodic/report/view/run-entry'
import { useRef } from 'preact/hooks'

interface Seen {
  readonly sealed: number
  readonly at: number
  readonly rate: number | null
}

/** Milliseconds over which a rate is measured, at least. */
const SPAN = 2_000

/** Episodes sealed a second of each running run, as far as this page has seen it run. */
export function useRates(runs: readonly RunEntry[]): (run: string) => number | null {
  const seen = useRef(new Map<string, Seen>())
  const now = performance.now()
  for (const { id, state, finished, failed } of runs) {
    const sealed = finished + failed
    const before = seen.current.get(id)
    if (state !== 'running') seen.current.delete(id)
    else if (!before) seen.current.set(id, { sealed, at: now, rate: null })
    else if (now - before.at >= SPAN)
      seen.current.set(id, { sealed, at: now, rate: ((sealed - before.sealed) / (now - before.at)) * 1_000 })
  }
  return (run) => seen.current.get(run)?.rate ?? null
}
