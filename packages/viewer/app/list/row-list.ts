import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** Rows of a run in the order in which a reader last saw them: the filtered and sorted list of its episodes. */
export interface RowList {
  readonly run: string
  readonly rows: ArrayLike<number>
  /** The address of the list, with its filter and order. */
  readonly href: string
  /** Where the reader was in it: pixels that were scrolled, and the place of the row with the focus. */
  readonly place?: { readonly top: number; readonly cursor: number | null }
}

/** Where the screen of episodes leaves its list, for "next" and "previous" of the screens that show one of them. */
export const RowListContext = createContext<{ current: RowList | null }>({ current: null })

export interface RowPlace {
  /** From 0. */
  readonly index: number
  readonly count: number
  readonly previous: number | null
  readonly next: number | null
  readonly href: string
}

/** The list that a reader last saw of a run; `null` if there was none since the page was opened. */
export function useRowList(run: string): RowList | null {
  const list = useContext(RowListContext).current
  return list?.run === run ? list : null
}

export function findPlace({ rows, href }: RowList, row: number): RowPlace | null {
  const index = Array.prototype.indexOf.call(rows, row)
  if (index < 0) return null
  const at = (place: number) => rows[place] ?? null
  return { index, count: rows.length, previous: at(index - 1), next: at(index + 1), href }
}
