import { createGradeTable } from '@episodic/report/grades/grade-table'
import { needsOf } from '@episodic/report/query/compile-query'
import { parseQuery } from '@episodic/report/query/parse-query'
import { isResult } from '@episodic/report/query/query-fields'
import type { ColumnName, EpisodeColumns } from '@episodic/report/rows/columns'
import { FIGURE_COLUMNS } from '@episodic/report/rows/row-figures'
import { formatCount } from '@episodic/report/text/format'
import type { RunListing } from '@episodic/report/view/run-entry'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useKeys } from '../keys/use-keys.ts'
import { RowListContext } from '../list/row-list.ts'
import { parseOrder } from '../list/sort-rows.ts'
import { EmptyNote, ErrorNote, LoadingNote, WhenLoaded } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { type RowRange, type TableHandle, VirtualTable } from '../parts/virtual-table.tsx'
import { formatRoute, type Route } from '../route/route.ts'
import { openRoute } from '../route/use-route.ts'
import { useTitle } from '../route/use-title.ts'
import { useLoaded, useVersion } from '../source/use-source.ts'
import { ColumnChooser } from './episode-list/column-chooser.tsx'
import { ColumnHead } from './episode-list/column-head.tsx'
import { type ChosenColumn, EpisodeRow } from './episode-list/episode-row.tsx'
import { columnsOfField, defaultFields, listColumns } from './episode-list/list-columns.tsx'
import { ListFigures } from './episode-list/list-figures.tsx'
import { type ChosenRows, chooseRows, orderRows } from './episode-list/list-view.ts'
import { QueryHelp } from './episode-list/query-help.tsx'
import { QUERY_LINE, QueryLine } from './episode-list/query-line.tsx'
import { ResultChips } from './episode-list/result-chips.tsx'
import { useLookups } from './episode-list/use-lookups.ts'
import { useWords } from './episode-list/use-words.ts'

type EpisodesRoute = Route & { readonly screen: 'episodes' }

/** In pixels; style/list.css has the same. */
const ROW_HEIGHT = 29
const ROW_COLUMNS = ['ending', 'attempt', 'try'] as const satisfies ColumnName[]
const FIRST_WIDTHS = [152, null, 56]

/** Which episodes? All of a run, filtered and sorted. */
export function EpisodesScreen({ route }: { readonly route: EpisodesRoute }) {
  const version = useVersion(route.run)
  const listing = useLoaded((source) => source.listing(route.run), [route.run], version)
  return (
    <WhenLoaded of={listing}>
      {(value) => (
        <>
          {listing.error && <ErrorNote error={listing.error} />}
          <Episodes key={route.run} route={route} listing={value} />
        </>
      )}
    </WhenLoaded>
  )
}

function Episodes({ route, listing }: { readonly route: EpisodesRoute; readonly listing: RunListing }) {
  const { run, query } = route
  const [shownRows, setShownRows] = useState(listing.rows)
  const gradeRecords = useLoaded((source) => source.grades(run), [run, shownRows])
  const grades = useMemo(() => createGradeTable(gradeRecords.value ?? []), [gradeRecords.value])
  const available = listColumns(listing.dictionaries, grades)
  const fields = route.columns ?? defaultFields(listing.dictionaries, listing.entry.tokens !== null, grades)
  const listed = available.filter(({ field }) => fields.includes(field))
  const order = parseOrder(route.sort)

  const parsed = useMemo(() => parseQuery(query), [query])
  const lastUnderstood = useRef('')
  if (parsed.problems.length === 0) lastUnderstood.current = query
  const applied = lastUnderstood.current
  const needs = useMemo(() => needsOf(parseQuery(applied)), [applied])
  const names = [
    ...new Set<ColumnName>([
      ...FIGURE_COLUMNS,
      ...ROW_COLUMNS,
      ...needs.columns,
      ...listed.flatMap(({ columns }) => columns),
      ...(order ? columnsOfField(order.field) : []),
    ]),
  ].filter((name) => !name.startsWith('term.') || listing.dictionaries.terms.includes(name.slice(5)))
  const loaded = useLoaded((source) => source.columns(run, names), [run, names.join(), shownRows])
  const episodes = loaded.value && names.every((name) => loaded.value?.columns[name]) ? loaded.value : null
  const { lookups, loading, failed } = useLookups(run, needs, loaded.value, grades)

  // Until what a new query needs is there, the rows of the one before stay.
  const last = useRef<{ readonly episodes: EpisodeColumns; readonly chosen: ChosenRows } | null>(null)
  const chosen = useMemo(() => {
    if (episodes && !loading) last.current = { episodes, chosen: chooseRows(applied, episodes, lookups) }
    return last.current
  }, [episodes, loading, applied, lookups])
  const rows = useMemo(
    () => (chosen ? orderRows(chosen.chosen.rows, chosen.episodes, order) : null),
    [chosen, route.sort],
  )
  const columns = useMemo(
    () => (chosen ? listed.map((column) => ({ ...column, cell: column.cells(chosen.episodes) })) : []),
    [chosen, fields.join(), grades],
  )
  const change = (to: Partial<EpisodesRoute>) => openRoute({ ...route, ...to }, { replace: true })

  useTitle(`Episodes · ${listing.entry.name}`)
  if (loaded.error && !chosen) return <ErrorNote error={loaded.error} />
  if (!chosen || !rows) return <LoadingNote>Loading {formatCount(listing.rows)} episodes …</LoadingNote>
  const problems = parsed.problems.length > 0 ? parsed.problems : chosen.chosen.problems
  const missing = listing.rows - chosen.episodes.rows
  return (
    <div class="episodes">
      <div class="flow mid">
        <h1>Episodes</h1>
        <ListFigures
          figures={chosen.chosen.figures}
          whole={countedIn(chosen.episodes)}
          byResult={parsed.terms.some((term) => term.kind === 'field' && isResult(term.field))}
        />
        <QueryHelp dictionaries={listing.dictionaries} graders={grades.graders} />
        <ColumnChooser
          columns={available}
          chosen={fields}
          onChange={(columns) => {
            const { columns: _, ...rest } = route
            openRoute(columns ? { ...rest, columns } : rest, { replace: true })
          }}
        />
      </div>
      <QueryLine query={query} problems={problems} onChange={(text) => change({ query: text })} />
      <div class="flow mid">
        <ResultChips query={query} counts={chosen.chosen.results} onChange={(text) => change({ query: text })} />
        {missing > 0 && (
          <button type="button" class="button fresh" onClick={() => setShownRows(listing.rows)}>
            {formatCount(chosen.episodes.rows)} → {formatCount(listing.rows)}, show
          </button>
        )}
        {loading && <span class="muted">Searching …</span>}
        {failed.length > 0 && !loading && (
          <span class="bad">! “{failed.join('”, “')}” could not be searched: episodes are missing.</span>
        )}
        {parsed.problems.length > 0 && <span class="muted">Shown as before the mistake.</span>}
      </div>
      {rows.length === 0 ? (
        <EmptyNote title={listing.rows === 0 ? 'No episode is sealed yet' : 'No episode meets the query'}>
          {listing.rows > 0 && (
            <>
              <p class="muted">
                Episodes of this run ended or failed as {plain(listing.dictionaries.ending.slice(1).join(', '))}.
              </p>
              <button type="button" class="button" onClick={() => change({ query: '' })}>
                Show all
              </button>
            </>
          )}
        </EmptyNote>
      ) : (
        <EpisodeTable
          route={route}
          rows={rows}
          episodes={chosen.episodes}
          columns={columns}
          onSort={(sort) => change({ sort })}
        />
      )}
    </div>
  )
}

interface EpisodeTableProps {
  readonly route: EpisodesRoute
  readonly rows: Uint32Array
  readonly episodes: EpisodeColumns
  readonly columns: readonly ChosenColumn[]
  onSort(sort: string): void
}

function EpisodeTable({ route, rows, episodes, columns, onSort }: EpisodeTableProps) {
  const list = useContext(RowListContext)
  const href = formatRoute(route)
  const table = useRef<TableHandle>(null)
  const [cursor, setCursor] = useState<number | null>(null)
  const [range, setRange] = useState<RowRange>({ first: 0, last: 0 })
  const visible = Array.from(rows.subarray(range.first, range.last))
  const words = useWords(route.run, visible)
  const order = parseOrder(route.sort)

  // Back from an episode, the list is where it was left.
  const latest = useRef({ cursor })
  latest.current = { cursor }
  useEffect(() => {
    const before = list.current
    if (before?.href === href && before.place) {
      table.current?.scrollTo(before.place.top)
      setCursor(before.place.cursor)
    }
  }, [])
  useEffect(() => {
    list.current = { run: route.run, rows, href }
  }, [rows, href])
  useEffect(
    () => () => {
      const { current } = list
      if (current) list.current = { ...current, place: { top: topOf.current, cursor: latest.current.cursor } }
    },
    [],
  )
  // The frame is gone by the time that the screen is left.
  const topOf = useRef(0)
  useEffect(() => {
    topOf.current = table.current?.top ?? 0
  }, [range])

  const move = (to: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, to))
    setCursor(index)
    table.current?.reveal(index)
  }
  useEffect(() => {
    if (cursor === null) return
    document.querySelector<HTMLElement>(`a[data-index="${cursor}"]`)?.focus({ preventScroll: true })
  }, [cursor, words])
  useKeys('Episodes', [
    { key: 'j', label: 'next episode', run: () => move(cursor === null ? range.first : cursor + 1) },
    { key: 'k', label: 'previous episode', run: () => move(cursor === null ? range.first : cursor - 1) },
    {
      key: 'Enter',
      label: 'open the episode',
      run: () => document.querySelector<HTMLElement>(`a[data-index="${cursor}"]`)?.click(),
    },
    { key: 'q', label: 'write a query', run: () => document.getElementById(QUERY_LINE)?.focus() },
  ])
  return (
    <VirtualTable
      label="Episodes"
      count={rows.length}
      rowHeight={ROW_HEIGHT}
      widths={[...FIRST_WIDTHS, ...columns.map(({ width }) => width)]}
      handle={table}
      onRange={setRange}
      head={
        <>
          <ColumnHead field="ending" title="Result" order={order} onSort={onSort} />
          <th>Episode</th>
          <ColumnHead
            field="attempt"
            title="Att."
            explained="The attempt, from 0."
            numeric
            order={order}
            onSort={onSort}
          />
          {columns.map(({ field, title, explained, numeric }) => (
            <ColumnHead
              key={field}
              field={field}
              title={title}
              explained={explained}
              numeric={numeric}
              order={order}
              onSort={onSort}
            />
          ))}
        </>
      }
      row={(index) => (
        <EpisodeRow
          key={index}
          run={route.run}
          row={rows[index] as number}
          index={index}
          current={cursor === index}
          episodes={episodes}
          words={words.get(rows[index] as number)}
          columns={columns}
        />
      )}
    />
  )
}

/** Lines that count: the other tries of an episode are no episodes of their own. */
function countedIn({ columns }: EpisodeColumns): number {
  let count = 0
  for (const counts of columns.counts ?? []) count += counts
  return count
}
