export interface VoidBounds {
  readonly low: number
  readonly high: number
}

/**
 * Returns the bounds of a rate from which failed episodes are missing; `null` if none is. These are the bounds without
 * any assumption of Manski ("Nonparametric Bounds on Treatment Effects", 1990).
 */
export function voidBounds({
  successes,
  finished,
  failed,
}: {
  readonly successes: number
  readonly finished: number
  readonly failed: number
}): VoidBounds | null {
  if (failed === 0) return null
  const sealed = finished + failed
  return { low: successes / sealed, high: (successes + failed) / sealed }
}
