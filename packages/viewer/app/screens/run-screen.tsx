import { useEffect, useState } from 'preact/hooks'
import { ErrorNote, LoadingNote } from '../parts/notes.tsx'
import type { Route } from '../route/route.ts'
import { RUN_COLUMNS, RunFigures } from '../run/run-figures.tsx'
import { useLoaded, useVersion } from '../source/use-source.ts'

type RunRoute = Route & { readonly screen: 'run' }

/** How well a run went, how sure that is, and where to look first. */
export function RunScreen({ route: { run, tab } }: { readonly route: RunRoute }) {
  const version = useVersion(run)
  const detail = useLoaded((source) => source.run(run), [run], version)
  const columns = useLoaded((source) => source.columns(run, RUN_COLUMNS), [run], version)
  const grades = useLoaded((source) => source.gradeSummary(run), [run], version)
  const isPrinting = usePrinting()
  if (detail.error) return <ErrorNote whole error={detail.error} />
  if (!detail.value) return <LoadingNote />
  return (
    <>
      {columns.error && <ErrorNote error={columns.error} />}
      {grades.error && <ErrorNote error={grades.error} />}
      <RunFigures detail={detail.value} columns={columns.value} grades={grades.value} tab={isPrinting ? 'all' : tab} />
    </>
  )
}

function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    const begin = () => setPrinting(true)
    const end = () => setPrinting(false)
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    return () => {
      removeEventListener('beforeprint', begin)
      removeEventListener('afterprint', end)
    }
  }, [])
  return isPrinting
}
