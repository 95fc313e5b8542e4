import { exactSum } from '../fold/exact-sum.ts'
import { formatCount, formatNumber, plural } from '../text/format.ts'
import type { Unearned } from './unearned-schema.ts'

/**
 * Finds the episodes that did not succeed and yet earned at least what successful ones earn on average, or, where none
 * succeeded, more than nothing: a hint at a reward that is paid for something else. Returns nothing if there are none.
 *
 * @param successful - returns of successful episodes, of whatever runs they are.
 */
export function findUnearned(successful: readonly number[], others: readonly number[]): { unearned?: Unearned } {
  const least = successful.length === 0 ? null : exactSum(successful) / successful.length
  const found = others.filter((earned) => earned > 0 && earned >= (least ?? 0))
  if (found.length === 0) return {}
  return { unearned: { of: others.length, episodes: found.length, mean: exactSum(found) / found.length, least } }
}

/** The same for the episodes of one run, by their successes (1 or 0) and returns. */
export function unearnedIn(successes: ArrayLike<number>, returns: ArrayLike<number>): ReturnType<typeof findUnearned> {
  const [others, successful] = [0, 1].map((is) => Array.from(returns).filter((_, i) => successes[i] === is))
  return findUnearned(successful ?? [], others ?? [])
}

export function noteUnearned(unearned: Unearned | undefined): string[] {
  if (!unearned) return []
  const { of, episodes, mean, least } = unearned
  const earned = `Earned without success: ${formatCount(episodes)} of ${plural(of, 'episode')} that did not succeed`
  const than = least === null ? 'and none succeeded' : `where successful ones earn ${formatNumber(least)}`
  return [`${earned} earned ${formatNumber(mean)} on average, ${than}. Look at what is paid: episodic check.`]
}

export function shortUnearned(unearned: Unearned | undefined): string[] {
  return unearned ? [`${formatCount(unearned.episodes)} earned without success`] : []
}
