import { passAtK } from '@episodic/report'

/** Of k attempts that are drawn from those there are: whether one succeeds, and whether all do. */
export interface PassFigure {
  readonly k: number
  /** pass@k, see `passAtK`. */
  readonly any: number
  /** pass^k: C(c, k) / C(n, k) for c successes of n attempts. */
  readonly all: number
}

/** Returns the figures for 1, 2, 4 … attempts, and for all. */
export function passFigures(count: number, successes: number): PassFigure[] {
  const sizes: number[] = []
  for (let k = 1; k < count; k *= 2) sizes.push(k)
  if (count > 0) sizes.push(count)
  // All of k succeed as likely as none of k fails.
  return sizes.map((k) => ({ k, any: passAtK(count, successes, k), all: 1 - passAtK(count, count - successes, k) }))
}
