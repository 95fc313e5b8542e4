import type { SealedRecord } from '@episodic/protocol'
import { isSuccess, scoredOutcomeOf } from '../fold/scored-outcome.ts'
import type { Attempts } from '../noise/noise-floor.ts'
import { formatPoints } from '../notes/figure-notes.ts'
import {
  episodesFor,
  halfOf,
  knownDifference,
  knownRate,
  type RateEvidence,
  rateEvidence,
} from '../precision/known-rate.ts'
import { seatRecordOf } from '../seats/seat-record.ts'
import { formatPercent } from '../text/format.ts'

/** The distance from its limit that a decision is expected to need, as a share. */
const DISTANCE = 0.1

/** What has to be known: half of the wanted width, or the limit to decide about, as shares. */
export type Wanted = { readonly half: number } | { readonly way: '>' | '<'; readonly limit: number }

/** Counts the sealed episodes of a run by task. Failed ones count for nothing. */
export function createAttempts(seat?: string) {
  const ended: { readonly task: string; readonly round: number; readonly isSuccess: boolean }[] = []
  return {
    add(line: SealedRecord): void {
      const record = seatRecordOf(line, seat)
      if (scoredOutcomeOf(record).kind === 'failed') return
      ended.push({ task: record.task.id, round: record.attempt, isSuccess: isSuccess(record) })
    },
    /** @param round - the last one that counts, so that a run that is played again ends after the same one. */
    byTask(round = Number.POSITIVE_INFINITY): Map<string, Attempts> {
      const tasks = new Map<string, { finished: number; successes: number }>()
      for (const episode of ended) {
        if (episode.round > round) continue
        const task = tasks.get(episode.task) ?? { finished: 0, successes: 0 }
        tasks.set(episode.task, task)
        task.finished += 1
        task.successes += Number(episode.isSuccess)
      }
      return tasks
    },
  }
}

/** A run that does not grow, with the tasks and the episodes that it has finished. */
export interface KnownBaseline {
  readonly name: string
  readonly tasks: ReadonlyMap<string, Attempts>
}

/** Returns what is known of the success on tasks, as a sentence; `null` if that is not enough. */
export function whenKnown(tasks: ReadonlyMap<string, Attempts>, wanted: Wanted, baseline?: KnownBaseline | null) {
  const narrowest = episodesFor('half' in wanted ? wanted.half : DISTANCE)
  const known = baseline ? differenceFrom(baseline, tasks, narrowest) : knownRate(tasks.values(), narrowest)
  if (!known) return null
  const { rate, half } = known
  const amount = (share: number) => (baseline ? `${formatPoints(share * 100)} points` : formatPercent(share))
  const above = baseline ? `${formatPoints(rate * 100)} ± ${(100 * half).toFixed(1)} points from ${baseline.name}` : ''
  const shown = `success on these tasks is ${above || `${formatPercent(rate)} ± ${(100 * half).toFixed(1)} points`}`
  if ('half' in wanted) return half <= wanted.half ? `${shown}.` : null
  const { way, limit } = wanted
  const isAbove = rate - half >= limit
  if (!isAbove && rate + half > limit) return null
  return `${shown}: ${way}= ${amount(limit)} is ${isAbove === (way === '>') ? 'met' : 'missed'}.`
}

function differenceFrom(baseline: KnownBaseline, tasks: ReadonlyMap<string, Attempts>, narrowest: number) {
  const shared = [...tasks].flatMap(([id, own]) => {
    const other = baseline.tasks.get(id)
    return other ? [[own, other] as const] : []
  })
  const ownTasks = shared.map(([one]) => one)
  const others = shared.map(([, one]) => one)
  const [own, other] = [rateEvidence(ownTasks, narrowest), rateEvidence(others)]
  return own && other && knownDifference(own, other)
}

/** Returns why a difference from a baseline is never known so well, as a sentence; `null` if it may be. */
export function whyNeverKnown({ name, tasks }: KnownBaseline, wanted: Wanted): string | null {
  const found: RateEvidence | null = rateEvidence(tasks.values())
  if (!found) return `${name} has no task that was played twice, so it is not known how much its rollouts differ.`
  const least = halfOf(found)
  if (!('half' in wanted) || least < wanted.half) return null
  return `${name} is itself known to ± ${(100 * least).toFixed(1)} points only. Ask for more points than that, or play more rollouts of it.`
}
