import type { Proportion } from '../fold/clustered-rate.ts'
import type { Summary } from '../fold/summary.ts'
import { formatCount, formatNumber, formatPercent } from '../plots/format.ts'

/** Says in one line how the intervals of a run were made, and over how many tasks. */
export function describeIntervals({ count, clusters }: Pick<Proportion, 'count' | 'clusters'>): string {
  if (clusters === 0) return 'No episode finished: there are no intervals.'
  if (clusters === 1) return 'One task says nothing of others: there are no intervals.'
  const tasks = `${formatCount(clusters)} tasks`
  return count === clusters
    ? `95 % intervals over ${tasks}, one episode each: Student’s t for means, Wilson’s score for shares.`
    : `95 % intervals clustered by task (${tasks}, ${formatCount(count)} episodes): robust errors with Student’s t for means, Wilson’s score at the effective sample size for shares.`
}

/** Says what share of a run's steps was refused. A player that draws at random draws again after each of them. */
export function describeRefused({ steps, refused }: Pick<Summary['counts'], 'steps' | 'refused'>): string {
  const accepted = steps - refused
  const rate = accepted > 0 ? `, ${formatNumber(refused / accepted)} for each accepted one` : ''
  return `of ${formatCount(steps)}${rate}`
}

/** A figure's interval, and what it was made from. */
interface Interval {
  readonly low: number | null
  readonly high: number | null
  readonly count: number
  readonly clusters: number
}

/** Writes an interval, or why there is none. */
export function noteInterval(interval: Interval, format: (interval: Interval) => string): string {
  if (interval.count === 0) return 'no finished episode'
  if (interval.low !== null) return `95 % ${format(interval)}`
  return interval.clusters < 2 ? 'one task: no interval' : 'the same in every task: no interval'
}

/** The share of failed episodes up to which the figures still tell of the run as a whole. */
const TOLERATED = 0.05

/**
 * Says that so many sealed episodes failed that what is told of the others may mislead: a world that fails wherever it is
 * lost has no failures to its name. `null` for a run of which at most one episode in twenty failed.
 */
export function noteFailures({ counts: { finished, failed } }: Pick<Summary, 'counts'>): string | null {
  const sealed = finished + failed
  if (failed <= TOLERATED * sealed) return null
  const share = `${formatCount(failed)} of ${formatCount(sealed)} sealed episodes failed (${formatPercent(failed / sealed)})`
  return finished > 0
    ? `${share}. Success and return are of the other ${formatCount(finished)} alone.`
    : `${share}. There is no success and no return to tell of.`
}

/** Whether the player shaped. Undiscounted shaping may add up to nothing over an episode, and is still in its steps. */
export function isShaped({ rewards }: Summary): boolean {
  return rewards.byStep.some((step) => step.total !== step.unshaped)
}
