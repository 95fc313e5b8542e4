import { isMatchRecord } from '@episodic/protocol'
import { identityOf } from './episode-identity.ts'
import { createFold, type Fold } from './fold.ts'

/** Creates a fold of runs of several seats, each folded by itself; the summary is of the seat in focus. */
export function createMatchFold({
  seats,
  focus,
  discount,
}: {
  readonly seats: readonly string[]
  readonly focus: string
  readonly discount: number
}): Pick<Fold, 'add' | 'finish'> {
  const folds = new Map(seats.map((seat) => [seat, createFold({ discount, seat })]))
  const faults = new Map(seats.map((seat) => [seat, new Set<string>()]))
  return {
    add(record, text) {
      const identity = identityOf(record, text)
      for (const fold of folds.values()) fold.add(record, text, identity)
      if (!isMatchRecord(record) || record.outcome.kind !== 'failed' || record.outcome.seat === null) return
      faults.get(record.outcome.seat)?.add(`${record.attempt}/${record.task.id}`)
    },
    finish(run) {
      const summaries = [...folds].map(([name, fold]) => ({ name, summary: fold.finish(run) }))
      const { summary } = summaries.find(({ name }) => name === focus) as (typeof summaries)[number]
      const figures = summaries.map(({ name, summary: own }) => ({
        name,
        focus: name === focus,
        policies: own.policies,
        success: own.success.overall,
        return: own.returns.unshaped?.mean ?? null,
        steps: own.counts.steps,
        refused: own.counts.refused,
        tokens: own.tokens,
        faults: faults.get(name)?.size ?? 0,
      }))
      return { ...summary, seats: figures }
    },
  }
}
