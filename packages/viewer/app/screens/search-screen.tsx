import { formatCount } from '@episodic/report/text/format'
import { SEARCH_FIELDS, type SearchField } from '@episodic/report/view/search-hit'
import { useContext, useRef } from 'preact/hooks'
import { linkKeys } from '../keys/link-keys.ts'
import { useKeys } from '../keys/use-keys.ts'
import { RowListContext } from '../list/row-list.ts'
import { EmptyNote, ErrorNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { formatRoute, type Route } from '../route/route.ts'
import { openRoute } from '../route/use-route.ts'
import { useTitle } from '../route/use-title.ts'
import { useLoaded } from '../source/use-source.ts'
import type { FoundInRun } from './search-list/found.ts'
import { FIELD_NAMES, HitList } from './search-list/hit-list.tsx'
import { useSearch } from './search-list/use-search.ts'

type SearchRoute = Route & { readonly screen: 'search' }

/** Where did any model say or get this? */
export function SearchScreen({ route }: { readonly route: SearchRoute }) {
  const { query, run, fields } = route
  const search = useSearch({ text: query, runs: run === '' ? undefined : [run], fields })
  const runs = useLoaded((source) => source.runs(), [])
  const list = useContext(RowListContext)
  const nameOf = (id: string) => runs.value?.find((one) => one.id === id)?.name ?? id
  const screen = useRef<HTMLDivElement>(null)
  const change = (to: SearchRoute) => openRoute(to, { replace: true })
  useKeys('Search', linkKeys(screen, 'a[data-hit]', 'place'))
  useTitle(query ? `“${query}” · Search` : 'Search')
  const { found, state } = search
  const places = found.reduce((sum, { count }) => sum + count, 0)
  const withHits = found.filter(({ hits }) => hits.length > 0)
  return (
    <div ref={screen}>
      <div class="flow mid screen-head">
        <h1>Search</h1>
        <p class="muted" role="status">
          {query === '' ? '' : stateOf(state, places, found)}
        </p>
        {state === 'searching' && (
          <button type="button" class="button" onClick={search.cancel}>
            Cancel
          </button>
        )}
      </div>
      <div class="flow mid">
        <fieldset class="flow tight">
          <legend class="unseen">Where to look</legend>
          <button
            type="button"
            class="pill"
            aria-pressed={!fields}
            onClick={() => change({ screen: 'search', query, run })}
          >
            everywhere
          </button>
          {SEARCH_FIELDS.map((field) => (
            <button
              key={field}
              type="button"
              class="pill"
              aria-pressed={fields?.includes(field) ?? false}
              onClick={() => change(withField(route, field))}
            >
              {FIELD_NAMES[field]}
            </button>
          ))}
        </fieldset>
        {run !== '' && (
          <button
            type="button"
            class="pill"
            title="Search all runs"
            onClick={() => change({ screen: 'search', query, run: '', ...(fields && { fields }) })}
          >
            in {plain(nameOf(run))} ✕
          </button>
        )}
      </div>
      {search.error && <ErrorNote error={search.error} />}
      {query === '' && <EmptyNote title="Write into the field above what to search for" />}
      {query !== '' && state === 'done' && places === 0 && !search.error && (
        <EmptyNote title={`“${query}” stands nowhere${fields ? ' in what was chosen' : ''}`} />
      )}
      {withHits.map((one) => (
        <HitList
          key={one.run}
          found={one}
          name={nameOf(one.run)}
          onOpen={() => {
            list.current = {
              run: one.run,
              rows: [...new Set(one.hits.map(({ row }) => row))],
              href: formatRoute(route),
            }
          }}
        />
      ))}
    </div>
  )
}

function withField({ query, run, fields = [] }: SearchRoute, field: SearchField): SearchRoute {
  const chosen = SEARCH_FIELDS.filter((one) => fields.includes(one) !== (one === field))
  return { screen: 'search', query, run, ...(chosen.length > 0 && { fields: chosen }) }
}

function stateOf(state: 'searching' | 'cancelled' | 'done', places: number, found: readonly FoundInRun[]): string {
  const counted = `${formatCount(places)} ${places === 1 ? 'place' : 'places'}`
  if (state === 'cancelled') return `${counted} until it was cancelled`
  if (state === 'done') return counted
  const done = found.filter((one) => one.done).length
  return `${counted} so far, ${formatCount(done)} ${done === 1 ? 'run' : 'runs'} searched …`
}
