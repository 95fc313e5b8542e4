import type { Summary } from '@episodic/report/fold/summary'
import type { GradeSummary } from '@episodic/report/grades/grade-summary'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type { IndexedPart, IndexedRows } from '@episodic/run/folder/index-lines'
import type { ComparedFolders } from '../folder/compare-folders.ts'

export interface Jobs {
  readonly index: { readonly given: IndexedPart; readonly part: IndexedRows; readonly result: null }
  readonly summarize: { readonly given: SummarizedFolder; readonly part: never; readonly result: SummarizedLines }
  readonly summarizeGrades: { readonly given: SummarizedFolder; readonly part: never; readonly result: GradeSummary }
  readonly compare: { readonly given: ComparedFolders; readonly part: never; readonly result: ComparedRuns }
}

export interface SummarizedFolder {
  readonly folder: string
  /** Where the lines end that the summary is to cover, in bytes. */
  readonly to: number
}

export interface SummarizedLines {
  readonly summary: Summary
  readonly covered: number
}

export type JobName = keyof Jobs

export interface JobMessage<Name extends JobName = JobName> {
  readonly number: number
  readonly name: Name
  readonly given: Jobs[Name]['given']
}

export type ThreadMessage =
  | { readonly number: number; readonly kind: 'part'; readonly part: Jobs[JobName]['part'] }
  | { readonly number: number; readonly kind: 'result'; readonly result: Jobs[JobName]['result'] }
  | { readonly number: number; readonly kind: 'error'; readonly code: string | null; readonly message: string }
