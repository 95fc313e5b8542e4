export type ExactSum = ReturnType<typeof createExactSum>

/**
 * Creates an exact sum of finite floats, which does not depend on their order. No intermediate sum may overflow (keep
 * magnitudes below 1e300).
 *
 * The running sum is a list of non-overlapping floats, so nothing is rounded away: J. R. Shewchuk, "Adaptive
 * Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates" (1997), with the final rounding of Python's
 * `math.fsum`. The list is short: two or three entries for rewards, at most about 40.
 */
export function createExactSum() {
  const partials: number[] = []
  return {
    add(value: number) {
      // Most terms of a reward are 0, which changes no sum.
      if (value === 0 && partials.length > 0) return
      let x = value
      let kept = 0
      for (let i = 0; i < partials.length; i++) {
        let y = partials[i] as number
        if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x]
        const high = x + y
        const low = y - (high - x)
        if (low !== 0) partials[kept++] = low
        x = high
      }
      partials.length = kept
      partials.push(x)
    },
    value: () => roundOnce(partials),
  }
}

export function exactSum(values: Iterable<number>): number {
  const sum = createExactSum()
  for (const value of values) sum.add(value)
  return sum.value()
}

function roundOnce(partials: readonly number[]): number {
  let n = partials.length
  if (n === 0) return 0
  let high = partials[--n] as number
  let low = 0
  while (n > 0) {
    const x = high
    const y = partials[--n] as number
    high = x + y
    low = y - (high - x)
    if (low !== 0) break
  }
  // Half way between two floats, the next partial decides which one is nearer.
  const next = n > 0 ? (partials[n - 1] as number) : 0
  if ((low < 0 && next < 0) || (low > 0 && next > 0)) {
    const rounded = high + low * 2
    if (rounded - high === low * 2) high = rounded
  }
  return high === 0 ? 0 : high
}
