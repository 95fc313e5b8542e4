import type { GradeRecord } from '../grades/grade-record.ts'
import type { GradeSummary } from '../grades/grade-summary.ts'
import type { ComparedRuns } from './compared-runs.ts'
import type { RowWords, RunDetail } from './run-entry.ts'
import type { EpisodeStates } from './state-changes.ts'

/** Runs within a file: what a page shows that has no server. */
export interface EmbeddedRuns {
  /** Version of this shape. */
  readonly format: 1
  readonly title: string
  readonly runs: readonly EmbeddedRun[]
  readonly compared: readonly ComparedRuns[]
  /** What was left out and why, in sentences; empty if nothing was. */
  readonly withheld: readonly string[]
}

export interface EmbeddedRun {
  readonly detail: RunDetail
  /** All columns, encoded and in base64. */
  readonly columns: string
  readonly words: readonly RowWords[]
  /** Sealed lines as text, by row. Rows without one have figures only. Of shared files, see `withheldIn`. */
  readonly lines: { readonly [row: string]: string }
  /** The states of such lines, computed when the file was made. Left out if it was made without. */
  readonly states?: { readonly [row: string]: EpisodeStates } | undefined
  readonly grades: readonly GradeRecord[]
  readonly gradeSummary: GradeSummary
}
