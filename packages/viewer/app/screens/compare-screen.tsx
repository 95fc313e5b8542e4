import type { CompareRoute } from '../compare/compared-tasks.tsx'
import { ComparedView } from '../compare/compared-view.tsx'
import { RunChooser } from '../compare/run-chooser.tsx'
import { ErrorNote, LoadingNote } from '../parts/notes.tsx'
import { useTitle } from '../route/use-title.ts'
import type { Source } from '../source/source.ts'
import { useLoaded, useVersion } from '../source/use-source.ts'

/** Which run is better, by how much, at what price, and on which tasks. */
export function CompareScreen({ route }: { readonly route: CompareRoute }) {
  const version = useVersion(null)
  const all = useLoaded((source) => source.runs(), [version])
  const chosen = [...new Set(route.runs)]
  const base = chosen.includes(route.base) ? route.base : (chosen[0] ?? '')
  const compared = useLoaded(
    async (source: Source) => (chosen.length < 2 ? null : source.compare(chosen, base)),
    [chosen.join(), base, version],
  )
  useTitle('Compare')
  return (
    <>
      {all.value && <RunChooser chosen={chosen} base={base} all={all.value} />}
      {chosen.length < 2 && <p class="nothing">Choose two or more runs of the same tasks.</p>}
      {compared.error && <ErrorNote error={compared.error} />}
      {compared.value ? (
        <ComparedView compared={compared.value} route={route} />
      ) : (
        compared.loading && chosen.length >= 2 && <LoadingNote />
      )}
    </>
  )
}
