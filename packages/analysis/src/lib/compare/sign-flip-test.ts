import { createRng } from '@episodic/protocol'

/** Most distinct sums of one half of the differences. Of unlike differences, 30 are counted exactly. */
const MOST_SUMS = 2 ** 15
/** Random assignments of signs, where there are too many to count. */
const DRAWS = 19_999
/** Sums that differ by less than this share of the sum of all sizes are equal but for rounding. */
const ROUNDING = 1e-11

/**
 * The two-sided sign-flip test of paired differences: the probability that their sum is at least as far from 0 if the
 * sign of each is a fair coin, which it is if it makes no difference who played which run. So it uses the size of each
 * difference, which the sign test does not, and assumes no distribution. Equal tasks have no influence.
 *
 * R. A. Fisher, "The Design of Experiments" (1935), section 21; E. J. G. Pitman, "Significance Tests Which May be
 * Applied to Samples From any Populations" (1937).
 *
 * It is exact as long as the sums are few enough to list: any 30 differing tasks, and thousands whose differences are
 * multiples of a common one, as shares of a few attempts are. The sums of two halves are listed with their
 * probabilities, those that are equal as one, and then combined (Pagano & Tritchler, "On Obtaining Permutation
 * Distributions in Polynomial Time", 1983). Otherwise 19,999 assignments are drawn with a fixed seed, and p is (1 +
 * those at least as far) / 20,000, which is valid for any number of draws and never 0 (Phipson & Smyth, "Permutation
 * P-values Should Never Be Zero", 2010).
 *
 * @returns the same for the same differences in any order, and for those of swapped runs. `p` is 1 if no task differs;
 * `smallest` is that of as many differences of one sign; `exact` is false if `p` is from random assignments of signs.
 */
export function signFlipTest(differences: readonly number[]) {
  const sizes = differences
    .map(Math.abs)
    .filter((size) => size > 0)
    .sort((a, b) => a - b)
  if (sizes.length === 0) return { p: 1, smallest: 1, exact: true }
  const rounding = ROUNDING * sizes.reduce((sum, size) => sum + size, 0)
  const observed = Math.abs(differences.toSorted((a, b) => a - b).reduce((sum, size) => sum + size, 0)) - rounding
  // 2^−n underflows from about a thousand tasks on.
  const smallest = Math.max(2 ** (1 - sizes.length), Number.MIN_VALUE)
  if (observed <= 0) return { p: 1, smallest, exact: true }
  const halves = [0, 1].map((half) => sizes.filter((_, i) => i % 2 === half))
  const [some, others] = halves.map((half) => listSums(half, rounding))
  if (some && others)
    return { p: Math.max(smallest, Math.min(1, 2 * chanceFrom(some, others, observed))), smallest, exact: true }
  const p = (1 + countFarther(sizes, observed)) / (1 + DRAWS)
  return { p, smallest: Math.max(smallest, 1 / (1 + DRAWS)), exact: false }
}

/** Sums in ascending order, with the probability of each. */
interface Sums {
  readonly values: Float64Array
  readonly chances: Float64Array
}

/** Lists the sums of all assignments of signs; `null` if they are too many. */
function listSums(sizes: readonly number[], rounding: number): Sums | null {
  let sums: Sums = { values: Float64Array.of(0), chances: Float64Array.of(1) }
  for (const size of sizes) {
    sums = addSize(sums, size, rounding)
    if (sums.values.length > MOST_SUMS) return null
  }
  return sums
}

/** Merges the sums less `size` with those plus `size`. */
function addSize({ values, chances }: Sums, size: number, rounding: number): Sums {
  const merged = new Float64Array(2 * values.length)
  const weights = new Float64Array(2 * values.length)
  let last = -1
  for (let down = 0, up = 0; down < values.length || up < values.length; ) {
    const lower = down < values.length ? (values[down] as number) - size : Number.POSITIVE_INFINITY
    const higher = up < values.length ? (values[up] as number) + size : Number.POSITIVE_INFINITY
    const isLower = lower <= higher
    const value = isLower ? lower : higher
    const chance = (chances[isLower ? down : up] as number) / 2
    if (isLower) down += 1
    else up += 1
    if (last < 0 || value - (merged[last] as number) > rounding) {
      last += 1
      merged[last] = value
    }
    weights[last] = (weights[last] as number) + chance
  }
  return { values: merged.slice(0, last + 1), chances: weights.slice(0, last + 1) }
}

/** The probability that one sum of each half are together at least `least`. */
function chanceFrom(some: Sums, others: Sums, least: number): number {
  let total = 0
  // The higher the sum of the one half, the more sums of the other half are high enough.
  let tail = 0
  let from = others.values.length
  for (let i = 0; i < some.values.length; i++) {
    while (from > 0 && (some.values[i] as number) + (others.values[from - 1] as number) >= least) {
      from -= 1
      tail += others.chances[from] as number
    }
    total += (some.chances[i] as number) * tail
  }
  return total
}

const SIGNS_AT_ONCE = 30

/** How many random assignments of signs have a sum at least as far from 0. */
function countFarther(sizes: readonly number[], observed: number): number {
  const rng = createRng('sign-flip test')
  let farther = 0
  for (let draw = 0; draw < DRAWS; draw++) {
    let sum = 0
    for (let i = 0; i < sizes.length; ) {
      let signs = rng.int(0, 2 ** SIGNS_AT_ONCE - 1)
      for (const end = Math.min(sizes.length, i + SIGNS_AT_ONCE); i < end; i++) {
        sum += signs & 1 ? (sizes[i] as number) : -(sizes[i] as number)
        signs >>= 1
      }
    }
    if (Math.abs(sum) >= observed) farther += 1
  }
  return farther
}
