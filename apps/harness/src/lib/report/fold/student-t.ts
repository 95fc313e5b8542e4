/** The 97.5 % point of the standard normal distribution, for 95 % intervals. */
export const NORMAL_POINT = 1.959963984540054

/** Above this, the expansion is exact to ten digits and faster than the sum. */
const MANY_DEGREES = 100

/**
 * The 97.5 % point of Student's t, the factor from a standard error to half of a 95 % interval.
 *
 * Abramowitz & Stegun, "Handbook of Mathematical Functions" (1964): 26.7.3 and 26.7.4, solved for t, up to 100 degrees of
 * freedom, and the expansion 26.7.5 above.
 *
 * @param degrees - of freedom, a whole number from 1.
 */
export function studentPoint(degrees: number): number {
  if (!(Number.isInteger(degrees) && degrees >= 1))
    throw new RangeError(`Student's t needs a whole number of degrees of freedom from 1 up; got ${degrees}.`)
  if (degrees > MANY_DEGREES) return expanded(degrees)
  let [low, high] = [0, Math.PI / 2]
  for (let halving = 0; halving < 60; halving++) {
    const middle = (low + high) / 2
    if (centralShare(degrees, middle) < 0.95) low = middle
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

function expanded(degrees: number): number {
  const x = NORMAL_POINT
  return (
    x +
    (x ** 3 + x) / (4 * degrees) +
    (5 * x ** 5 + 16 * x ** 3 + 3 * x) / (96 * degrees ** 2) +
    (3 * x ** 7 + 19 * x ** 5 + 17 * x ** 3 - 15 * x) / (384 * degrees ** 3) +
    (79 * x ** 9 + 776 * x ** 7 + 1_482 * x ** 5 - 1_920 * x ** 3 - 945 * x) / (92_160 * degrees ** 4)
  )
}
