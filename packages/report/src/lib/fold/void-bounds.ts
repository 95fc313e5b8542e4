export interface VoidBounds {
  readonly low: number
  readonly high: number
}

/**
 * Returns the bounds of a rate from which failed episodes are missing; `null` if none is. These are the bounds without
 * any assumption of Manski ("Nonparametric Bounds on Treatment Effects", 1990).
 */
export function voidBounds(counts: Readonly<Record<'successes' | 'finished' | 'failed', number>>): VoidBounds | null {
  const { successes, finished, failed } = counts
  if (failed === 0) return null
  const sealed = finished + failed
  return { low: successes / sealed, high: (successes + failed) / sealed }
}
