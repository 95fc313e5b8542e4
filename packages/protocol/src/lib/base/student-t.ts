/** The share of intervals that hold the true value. */
type Confidence = 0.6 | 0.95 | 0.999

/** The factor from a standard error to half of an interval, for a normal distribution. */
export const NORMAL_POINTS: Readonly<Record<Confidence, number>> = {
  // Its upper end is the 80 % point, which the power of a test needs.
  0.6: 0.8416212335729143,
  0.95: 1.959963984540054,
  0.999: 3.2905267314919255,
}

/** Above this, the expansion is exact to ten digits for 95 % and to seven for 99.9 %, and faster than the sum. */
const MANY_DEGREES = 100

/**
 * The point of Student's t that is the factor from a standard error to half of an interval: 97.5 % for one of 95 %.
 *
 * Abramowitz & Stegun, "Handbook of Mathematical Functions" (1964): 26.7.3 and 26.7.4, solved for t, up to 100 degrees
 * of freedom, and the expansion 26.7.5 above for the shares that have a normal point here.
 *
 * @param degrees - of freedom, a whole number from 1.
 */
export function studentPoint(degrees: number, confidence = 0.95): number {
  if (!(Number.isInteger(degrees) && degrees >= 1))
    throw new RangeError(`Student's t needs a whole number of degrees of freedom from 1 up; got ${degrees}.`)
  const normal = (NORMAL_POINTS as Readonly<Record<number, number | undefined>>)[confidence]
  if (degrees > MANY_DEGREES && normal !== undefined) return expanded(degrees, normal)
  let [low, high] = [0, Math.PI / 2]
  for (let halving = 0; halving < 60; halving++) {
    const middle = (low + high) / 2
    if (centralShare(degrees, middle) < confidence) low = middle
    else high = middle
  }
  return Math.sqrt(degrees) * Math.tan((low + high) / 2)
}

/** The probability that |t| < √degrees · tan(angle). */
function centralShare(degrees: number, angle: number): number {
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)]
  const odd = degrees % 2 === 1
  let term = odd ? cosine : 1
  let sum = 0
  for (let i = odd ? 3 : 2; i <= degrees; i += 2) {
    sum += term
    term *= ((i - 1) / i) * cosine ** 2
  }
  return odd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum
}

function expanded(degrees: number, x: number): number {
  return (
    x +
    (x ** 3 + x) / (4 * degrees) +
    (5 * x ** 5 + 16 * x ** 3 + 3 * x) / (96 * degrees ** 2) +
    (3 * x ** 7 + 19 * x ** 5 + 17 * x ** 3 - 15 * x) / (384 * degrees ** 3) +
    (79 * x ** 9 + 776 * x ** 7 + 1_482 * x ** 5 - 1_920 * x ** 3 - 945 * x) / (92_160 * degrees ** 4)
  )
}
