/** What stands in the page of a suite. It is shown without a script. */
export interface ResultPage {
  readonly kind: 'suite'
  readonly title: string
  readonly facts: string
  /** What a reader must not miss. It stands above the figures. */
  readonly alarms: readonly string[]
  readonly figures: readonly { readonly name: string; readonly value: string; readonly notes: readonly string[] }[]
  readonly sections: readonly { readonly title: string; readonly cards: readonly ResultCard[] }[]
  /** How the figures are computed, in paragraphs. */
  readonly methods: readonly string[]
}

export interface ResultCard {
  readonly title: string
  readonly table: {
    readonly head: readonly string[]
    readonly rows: readonly (readonly ResultCell[])[]
    /** How many of the first columns are texts; the others are figures. */
    readonly texts: number
  }
}

export type ResultCell = string | JudgedText | IntervalInRange

export interface JudgedText {
  readonly text: string
  readonly sense: 'positive' | 'negative' | 'doubtful' | 'neutral'
}

export interface IntervalInRange {
  readonly value: number
  readonly low: number | null
  readonly high: number | null
  readonly from: number
  readonly to: number
  readonly marks: readonly number[]
}
