/** Where a text may stand, in the order of the page. */
export const SEARCH_FIELDS = ['prompt', 'text', 'reasoning', 'call', 'answer', 'failure'] as const
export type SearchField = (typeof SEARCH_FIELDS)[number]

export interface SearchHit {
  readonly run: string
  readonly row: number
  readonly task: string
  readonly attempt: number
  readonly try: number
  /** From 0; `null` for what belongs to no step. */
  readonly step: number | null
  readonly field: SearchField
  /** At most 80 characters before and after. */
  readonly before: string
  readonly match: string
  readonly after: string
}

/** How far a search is. Once `hits` exceeds what is sent, it counts on. */
export interface SearchProgress {
  readonly run: string
  readonly hits: number
  readonly bytes: number
  readonly totalBytes: number
  readonly done: boolean
}
