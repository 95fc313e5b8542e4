/** π/2 in two parts: the first has 25 bits, so its small multiples are exact. */
const HALF_PI = [26353589 / 2 ** 24, 1.5893254773528196e-8] as const

/** The Taylor series of sine and cosine to the 17th and 18th power: the rest is below 1e-19 up to π/4. */
const SINE = seriesFrom(1)
const COSINE = seriesFrom(0)

/** The largest argument, on either side of 0. */
const MOST = 4

/**
 * The sine of an angle in radians of at most 4. It adds and multiplies and nothing else, so every engine returns the
 * same bits, which those of `Math.sin` are not. Throws a `RangeError` for other angles.
 */
export function sine(angle: number): number {
  return shifted(angle, 0)
}

/** The cosine, as {@link sine}. */
export function cosine(angle: number): number {
  return shifted(angle, 1)
}

/** The sine of the angle and some quarter turns. */
function shifted(angle: number, quarters: number): number {
  if (!(Math.abs(angle) <= MOST)) throw new RangeError(`An angle of ${angle} is not from -${MOST} to ${MOST}.`)
  const turns = Math.round(angle / (HALF_PI[0] + HALF_PI[1]))
  const rest = angle - turns * HALF_PI[0] - turns * HALF_PI[1]
  const square = rest * rest
  switch ((turns + quarters + 8) % 4) {
    case 0:
      return sineNear(rest, square)
    case 1:
      return cosineNear(square)
    case 2:
      return -sineNear(rest, square)
    default:
      return -cosineNear(square)
  }
}

/** Added to the largest term at last, the small ones hardly add to its rounding. */
function sineNear(rest: number, square: number): number {
  return rest + rest * (square * sumOf(SINE, square))
}

function cosineNear(square: number): number {
  return 1 + square * sumOf(COSINE, square)
}

/**
 * The coefficients of every second power after the first, with alternating signs: -1 / (first + 2)!, 1 / (first + 4)!,
 * …
 */
function seriesFrom(first: 0 | 1): number[] {
  const coefficients: number[] = []
  let factorial = 1
  for (let power = first + 2; power <= 18; power += 2) {
    factorial *= -power * (power - 1)
    coefficients.push(1 / factorial)
  }
  return coefficients
}

function sumOf(coefficients: readonly number[], square: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * square + coefficient, 0)
}
