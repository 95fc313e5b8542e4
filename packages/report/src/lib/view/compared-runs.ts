import type { Comparison } from '../compare/comparison.ts'
import type { Contrasts } from '../compare/contrasts.ts'

export interface ComparedRuns {
  readonly baseline: string
  /** Ids of the compared runs, the baseline first. */
  readonly runs: readonly string[]
  /** Those that were to be compared and cannot be, by their ids, and why. */
  readonly leftOut: readonly { readonly run: string; readonly name: string; readonly why: string }[]
  /** `null` if two runs were to be compared. */
  readonly contrasts: Contrasts | null
  /** Each other run with the baseline, over the tasks that both have. */
  readonly comparisons: readonly Comparison[]
  /** The episodes of each compared task, at most 2,000 tasks, the most different ones first. */
  readonly tasks: readonly ComparedTask[]
}

export interface ComparedTask {
  readonly task: string
  readonly prompt: string
  /** By run, in their order: finished episodes, successes among them, their mean unshaped return, and their rows. */
  readonly runs: readonly {
    readonly finished: number
    readonly successes: number
    readonly unshaped: number | null
    readonly rows: readonly number[]
  }[]
}
