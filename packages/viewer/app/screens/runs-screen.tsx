import { useMemo, useRef, useState } from 'preact/hooks'
import { linkKeys } from '../keys/link-keys.ts'
import { useKeys } from '../keys/use-keys.ts'
import { CommandLine } from '../parts/copy.tsx'
import { EmptyNote, ErrorNote, WhenLoaded } from '../parts/notes.tsx'
import { formatRoute, type Route } from '../route/route.ts'
import { openRoute } from '../route/use-route.ts'
import { useTitle } from '../route/use-title.ts'
import { useLoaded, useVersion } from '../source/use-source.ts'
import { filterRuns, groupRuns } from './run-list/grouped-runs.ts'
import { RunsTable } from './run-list/runs-table.tsx'

type RunsRoute = Route & { readonly screen: 'runs' }

/** What is there, what is running, and what did it cost? */
export function RunsScreen({ route }: { readonly route: RunsRoute }) {
  const version = useVersion(null)
  const loaded = useLoaded((source) => source.runs(), [], version)
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const runs = loaded.value ?? []
  const groups = useMemo(() => groupRuns(filterRuns(runs, route.query)), [loaded.value, route.query])
  // In the order of the table; runs that are gone cannot be compared.
  const chosen = groupRuns(runs).flatMap((group) => group.runs.map(({ id }) => id).filter((id) => ticked.has(id)))
  const compare = () => {
    if (chosen.length >= 2) openRoute({ screen: 'compare', runs: chosen, base: '' })
  }
  const screen = useRef<HTMLDivElement>(null)
  useKeys('Runs', [
    ...linkKeys(screen, 'a[data-row]', 'run'),
    {
      key: 'x',
      label: 'tick the run',
      run() {
        const run = (document.activeElement as HTMLElement | null)?.dataset.row
        if (run) tick([run], !ticked.has(run))
      },
    },
    { key: 'c', label: 'compare the ticked runs', run: compare },
  ])
  useTitle('Runs')
  return (
    <div ref={screen}>
      <WhenLoaded of={loaded}>
        {() =>
          runs.length === 0 ? (
            <NoRuns />
          ) : (
            <>
              {loaded.error && <ErrorNote error={loaded.error} />}
              <div class="flow mid screen-head">
                <h1>Runs</h1>
                <span class="muted">
                  {runs.length} {runs.length === 1 ? 'run' : 'runs'}
                </span>
                <input
                  class="push"
                  type="search"
                  placeholder="Filter by name, world, player"
                  aria-label="Filter runs by name, world or player"
                  value={route.query}
                  onInput={({ currentTarget }) =>
                    openRoute({ screen: 'runs', query: currentTarget.value }, { replace: true })
                  }
                />
                {chosen.length > 0 && (
                  <a
                    class="button"
                    href={formatRoute({ screen: 'label', run: chosen.join(), grader: '', scale: 'boolean' })}
                  >
                    Label…
                  </a>
                )}
                <button type="button" class="button primary" disabled={chosen.length < 2} onClick={compare}>
                  Compare{chosen.length > 1 ? ` ${chosen.length} runs` : ''}
                </button>
              </div>
              {groups.length > 0 ? (
                <RunsTable groups={groups} ticks={{ ticked, tick }} />
              ) : (
                <EmptyNote title="No run has these words" />
              )}
            </>
          )
        }
      </WhenLoaded>
    </div>
  )

  function tick(ids: readonly string[], on: boolean) {
    setTicked((before) => new Set(on ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id))))
  }
}

function NoRuns() {
  return (
    <EmptyNote whole title="There are no runs yet">
      <p class="muted">Make one, and it appears here while it is played:</p>
      <CommandLine command="npx episodic run number-guessing --policy random" />
    </EmptyNote>
  )
}
