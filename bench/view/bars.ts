/** A figure with the bar that it has to keep. */
export interface Barred {
  readonly is: number
  readonly atMost?: number
  readonly atLeast?: number
  readonly ok: boolean
  /**
   * The same of something that this machine cannot do without, measured in the same run: what a slower machine makes of
   * it.
   */
  readonly floor?: number
}

/** Times in milliseconds and sizes are at most as high as their bar. */
export function atMost(bar: number, is: number, floor?: number): Barred {
  return { is, atMost: bar, ok: is <= bar, ...(floor !== undefined && { floor }) }
}

/** Rates are at least as high as their bar. */
export function atLeast(bar: number, is: number, floor?: number): Barred {
  return { is, atLeast: bar, ok: is >= bar, ...(floor !== undefined && { floor }) }
}
