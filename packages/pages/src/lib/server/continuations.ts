import type { ContinuationAnswers } from '@episodic/report/view/continuations'
import type { ViewedRun } from './folder/viewed-run.ts'
import type { ViewedRuns } from './folder/viewed-runs.ts'

export interface Continuations {
  /** Stands in the address of what plays, which nobody else knows. */
  readonly token: string
  /** Answers what the page of a run asks for, which is any JSON. Rejects with errors that say what is wrong with it. */
  readonly answers: {
    readonly [action in keyof ContinuationAnswers]: (
      run: ViewedRun,
      asked: unknown,
      runs: ViewedRuns,
    ) => Promise<unknown>
  }
}
