import type { RunEntry } from '@episodic/report/view/run-entry'
import type { CompareRoute } from '../compare/compared-tasks.tsx'
import { ComparedView } from '../compare/compared-view.tsx'
import { ErrorNote, LoadingNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { plainString } from '../parts/signs.ts'
import { openRoute } from '../route/use-route.ts'
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

interface RunChooserProps {
  readonly chosen: readonly string[]
  readonly base: string
  readonly all: readonly RunEntry[]
}

function RunChooser({ chosen, base, all }: RunChooserProps) {
  const entryOf = (id: string) => all.find((run) => run.id === id)
  const worlds = new Set(chosen.flatMap((id) => entryOf(id)?.environments ?? []))
  const others = all.filter(
    ({ id, environments }) =>
      !chosen.includes(id) && (worlds.size === 0 || environments.some((world) => worlds.has(world))),
  )
  const open = (runs: readonly string[], baseline: string) =>
    openRoute({ screen: 'compare', runs, base: runs.includes(baseline) ? baseline : (runs[0] ?? '') })
  return (
    <div class="chooser flow mid tight">
      <label>
        Baseline{' '}
        <select value={base} onChange={(event) => open(chosen, event.currentTarget.value)}>
          {chosen.map((id) => (
            <option key={id} value={id}>
              {plainString(entryOf(id)?.name ?? id)}
            </option>
          ))}
        </select>
      </label>
      {chosen
        .filter((id) => id !== base)
        .map((id) => (
          <button
            key={id}
            type="button"
            class="pill"
            title="leave this run out"
            onClick={() =>
              open(
                chosen.filter((other) => other !== id),
                base,
              )
            }
          >
            {plain(entryOf(id)?.name ?? id)} ×
          </button>
        ))}
      {others.length > 0 && (
        <label>
          Add{' '}
          <select value="" onChange={(event) => open([...chosen, event.currentTarget.value], base)}>
            <option value="">a run …</option>
            {others.map(({ id, name }) => (
              <option key={id} value={id}>
                {plainString(name)}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  )
}
