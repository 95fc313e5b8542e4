import { findPlace, useRowList } from '../list/row-list.ts'
import { formatRoute } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'
import type { Neighbours } from './episode-header.tsx'

/** The episodes around a row: in the list that it was opened from, else in the order of the file. */
export function useNeighbours(run: string, row: number): Neighbours {
  const list = useRowList(run)
  const place = list ? findPlace(list, row) : null
  const { value: rows } = useLoaded(
    async (source) => (place ? 0 : (await source.listing(run)).rows),
    [run, place === null],
  )
  const previous = place ? place.previous : row > 0 ? row - 1 : null
  const next = place ? place.next : row + 1 < (rows ?? 0) ? row + 1 : null
  const { value: words } = useLoaded(
    (source) =>
      source.words(
        run,
        [previous, next].filter((one) => one !== null),
      ),
    [run, previous, next],
  )
  const wordsOfRow = (wanted: number | null) => words?.find((one) => one.row === wanted) ?? null
  return {
    previous: wordsOfRow(previous),
    next: wordsOfRow(next),
    place: place
      ? { number: place.index + 1, count: place.count, href: place.href }
      : rows
        ? { number: row + 1, count: rows, href: formatRoute({ screen: 'episodes', run, query: '', sort: '' }) }
        : null,
  }
}
