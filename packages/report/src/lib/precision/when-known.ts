import type { SealedRecord } from '@episodic/protocol'
import { isSuccess, scoredOutcomeOf } from '../fold/scored-outcome.ts'
import { seatRecordOf } from '../seats/seat-record.ts'
import { formatPercent } from '../text/format.ts'
import { episodesFor, knownRate } from './known-rate.ts'

/** The distance from its limit that a decision is expected to need, as a share. */
const DISTANCE = 0.1

/**
 * Creates an account of the sealed episodes of a run that says when its success is known well enough. Failed episodes
 * count for nothing.
 *
 * @param until - half of the wanted width, or the limit to decide about, as shares.
 * @param seat - whose success it is, if there are several. Default: the first.
 */
export function createWhenKnown(
  until: { readonly half: number } | { readonly way: '>' | '<'; readonly limit: number },
  seat?: string,
) {
  const ended: { readonly task: string; readonly round: number; readonly isSuccess: boolean }[] = []
  return {
    add(line: SealedRecord): void {
      const record = seatRecordOf(line, seat)
      if (scoredOutcomeOf(record).kind === 'failed') return
      ended.push({ task: record.task.id, round: record.attempt, isSuccess: isSuccess(record) })
    },
    /**
     * Returns what is known after a round of all tasks, as a sentence; `null` if that is not enough. Later rounds count
     * for nothing, so that a run that is played again ends after the same one.
     */
    look(round: number): string | null {
      const tasks = new Map<string, { finished: number; successes: number }>()
      for (const episode of ended) {
        if (episode.round > round) continue
        const task = tasks.get(episode.task) ?? { finished: 0, successes: 0 }
        tasks.set(episode.task, task)
        task.finished += 1
        task.successes += Number(episode.isSuccess)
      }
      const known = knownRate(tasks.values(), episodesFor('half' in until ? until.half : DISTANCE))
      if (!known) return null
      const { rate, half } = known
      const shown = `success on these tasks is ${formatPercent(rate)} ± ${(100 * half).toFixed(1)} points`
      if ('half' in until) return half <= until.half ? `${shown}.` : null
      const { way, limit } = until
      const isAbove = rate - half >= limit
      if (!isAbove && rate + half > limit) return null
      return `${shown}: ${way}= ${formatPercent(limit)} is ${isAbove === (way === '>') ? 'met' : 'missed'}.`
    },
  }
}
