import { exactSum } from '../fold/exact-sum.ts'

export interface GroupReturns {
  readonly mean: number
  /** Over all episodes, as learners use it: √(Σ (r − mean)² / n). */
  readonly deviation: number
  /**
   * (r − mean) / deviation of each return, in their order; `null` for what has no return. All are 0 where the returns
   * do not differ: there is nothing to learn from such a group.
   */
  readonly advantages: readonly (number | null)[]
}

/**
 * Computes the advantages of a group of episodes, as group-relative policy optimisation does.
 *
 * Shao et al., "DeepSeekMath" (2024, arXiv:2402.03300), section 4.1.
 *
 * @param returns - `null` for a failed episode, which is in no figure.
 * @returns `null` if there is no return.
 */
export function advantagesOf(returns: readonly (number | null)[]): GroupReturns | null {
  const known = returns.filter((value) => value !== null)
  if (known.length === 0) return null
  const mean = exactSum(known) / known.length
  const spread = Math.sqrt(exactSum(known.map((value) => (value - mean) ** 2)) / known.length)
  const largest = Math.max(...known.map(Math.abs))
  const deviation = spread <= 1e-12 * largest ? 0 : spread
  const advantages = returns.map((value) => (value === null ? null : deviation === 0 ? 0 : (value - mean) / deviation))
  return { mean, deviation, advantages }
}
