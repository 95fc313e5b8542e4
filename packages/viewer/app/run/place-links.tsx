import type { EpisodeName } from '@episodic/report/grades/agreement'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { formatCount } from '@episodic/report/text/format'
import { ErrorNote, LoadingNote } from '../parts/notes.tsx'
import type { Source } from '../source/source.ts'
import { useLoaded } from '../source/use-source.ts'
import { EpisodeLinks } from './episode-links.tsx'

const MOST_PLACES = 40

interface PlaceLinksProps {
  readonly run: string
  readonly places: readonly EpisodeName[]
  /** With those of {@link EpisodeLinks}, and the attempts and tries. */
  readonly columns: EpisodeColumns
}

export function PlaceLinks({ run, places, columns }: PlaceLinksProps) {
  const shown = places.slice(0, MOST_PLACES)
  const rows = useLoaded((source) => loadRows(source, run, shown, columns), [run, JSON.stringify(shown), columns])
  if (rows.error) return <ErrorNote error={rows.error} />
  if (!rows.value) return <LoadingNote />
  return (
    <>
      {places.length > shown.length && (
        <p class="caption">
          The first {formatCount(shown.length)} of {formatCount(places.length)}.
        </p>
      )}
      <EpisodeLinks run={run} rows={rows.value} columns={columns} />
    </>
  )
}

async function loadRows(
  source: Source,
  run: string,
  places: readonly EpisodeName[],
  { columns }: EpisodeColumns,
): Promise<number[]> {
  const ids = [...new Set(places.map(({ task }) => task))]
  const found = await Promise.all(ids.map((id) => source.tasks(run, id)))
  const rows = new Map(found.flat().map((task) => [task.task, task.rows]))
  return places.flatMap(
    ({ task, attempt, try: number }) =>
      rows.get(task)?.find((row) => columns.attempt?.[row] === attempt && columns.try?.[row] === number) ?? [],
  )
}
