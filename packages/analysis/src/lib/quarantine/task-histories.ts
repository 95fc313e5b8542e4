import { wilson } from '@episodic/report/fold/clustered-rate'
import type { ComparedRun } from '../compare/compared-run.ts'
import { countPlays } from '../compare/played-tasks.ts'

export interface TaskHistory {
  readonly task: string
  readonly runs: number
  readonly finished: number
  readonly successes: number
  readonly failed: number
  /**
   * How often one of two rollouts of the same player solves it and the other does not, with the 95 % interval; `null`
   * if no player has finished it twice.
   */
  readonly flips: { readonly rate: number; readonly low: number; readonly high: number } | null
}

/**
 * Returns the history of each task over the runs of one or more players, those that flip most first. The flip rate is
 * the mean of those of its runs: of n rollouts, c of them solved, 2 c (n − c) / (n (n − 1)) estimates that of a run
 * without bias (Hoeffding 1948), and counts for the ⌊n / 2⌋ pairs that have no rollout in common. The interval is
 * Wilson's of so many pairs, which errs to the wide side: pairs of several players vary less than those of one.
 */
export function taskHistories(runs: readonly Pick<ComparedRun, 'tasks'>[]): TaskHistory[] {
  const ids = [...new Set(runs.flatMap(({ tasks }) => [...tasks.keys()]))].sort()
  const histories = ids.map((task): TaskHistory => {
    const counts = runs.flatMap(({ tasks }) => {
      const played = tasks.get(task)
      return played ? [countPlays([played])] : []
    })
    const sum = (value: (one: (typeof counts)[number]) => number) => counts.reduce((all, one) => all + value(one), 0)
    const pairs = sum(({ finished }) => Math.floor(finished / 2))
    const flipped = sum(({ finished: n, successes: c }) =>
      n < 2 ? 0 : (Math.floor(n / 2) * 2 * c * (n - c)) / n / (n - 1),
    )
    const rate = flipped / pairs
    return {
      ...{ task, runs: counts.length, finished: sum(({ finished }) => finished) },
      ...{ successes: sum(({ successes }) => successes), failed: sum(({ failed }) => failed) },
      flips: pairs === 0 ? null : { rate, ...wilson(rate, pairs) },
    }
  })
  return histories.sort((a, b) => (b.flips?.rate ?? -1) - (a.flips?.rate ?? -1))
}
