/** Between which values a rate of success lies, whatever the void episodes would have been. */
export interface VoidBounds {
  /** If all of them were lost. */
  readonly low: number
  /** If all of them were won. */
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
