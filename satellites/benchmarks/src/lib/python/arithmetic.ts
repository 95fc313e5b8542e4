import { PythonError } from './error.ts'
import { float, isFloat, isLargeInt, isWholeFloat, numberOf, type PythonFloat, type PythonInt } from './value.ts'

export type PythonNumber = number | PythonFloat | PythonInt

export function isNumber(value: unknown): value is PythonNumber {
  return typeof value === 'number' || isWholeFloat(value) || isLargeInt(value)
}

/** Returns the double next to a number, which may be infinite. */
export function toDouble(value: PythonNumber): number {
  return isLargeInt(value) ? Number(value.$int) : numberOf(value)
}

/** Returns the double of a number, as `float` does. Throws for an int that is too large. */
function finite(value: PythonNumber): number {
  const double = toDouble(value)
  if (isLargeInt(value) && !Number.isFinite(double))
    throw new PythonError('OverflowError', 'int too large to convert to float')
  return double
}

/** Returns an int as it is kept. */
export function toInt(value: bigint): number | PythonInt {
  return Number.isSafeInteger(Number(value)) ? Number(value) : { $int: String(value) }
}

/** Returns the integer that an int is. */
export function integerOf(value: number | PythonInt): bigint {
  return BigInt(isLargeInt(value) ? value.$int : value)
}

type Compute<Result> = [ints: (a: bigint, b: bigint) => Result, doubles: (a: number, b: number) => number]

/** Computes exactly with ints, and with doubles if one is a float. */
function operation([ints, doubles]: Compute<bigint | PythonFloat | number>) {
  return (a: PythonNumber, b: PythonNumber): PythonNumber => {
    if (isFloat(a) || isFloat(b)) return float(doubles(finite(a), finite(b)))
    const result = ints(integerOf(a), integerOf(b))
    return typeof result === 'bigint' ? toInt(result) : result
  }
}

export const add = operation([(a, b) => a + b, (a, b) => a + b])
export const subtract = operation([(a, b) => a - b, (a, b) => a - b])
export const multiply = operation([(a, b) => a * b, (a, b) => a * b])

/** `/`: a float also of two ints, the nearest to their ratio. */
export const divide = operation([
  (a, b) => {
    if (b === 0n) throw new PythonError('ZeroDivisionError', 'division by zero')
    return float(ratio(a, b))
  },
  (a, b) => {
    if (b === 0) throw new PythonError('ZeroDivisionError', 'float division by zero')
    return a / b
  },
])

/** `//`: rounded down. */
export const divideDown = operation([
  (a, b) => {
    if (b === 0n) throw new PythonError('ZeroDivisionError', 'integer division or modulo by zero')
    const rest = a % b
    return a / b - (rest !== 0n && rest < 0n !== b < 0n ? 1n : 0n)
  },
  (a, b) => {
    if (b === 0) throw new PythonError('ZeroDivisionError', 'float floor division by zero')
    return Math.round((a - restOf(a, b)) / b) || 0 * (a / b)
  },
])

/** `%`: with the sign of the second. */
export const remainder = operation([
  (a, b) => {
    if (b === 0n) throw new PythonError('ZeroDivisionError', 'integer modulo by zero')
    return ((a % b) + b) % b
  },
  (a, b) => {
    if (b === 0) throw new PythonError('ZeroDivisionError', 'float modulo')
    return restOf(a, b)
  },
])

function restOf(a: number, b: number): number {
  const rest = a % b
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest
}

/** Digits of an int that Python prints. */
const MOST_DIGITS = 4_300
const TOO_LONG = `Exceeds the limit (${MOST_DIGITS} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit`

/** `**`. What has more digits than Python prints is refused here already. */
export function power(base: PythonNumber, exponent: PythonNumber): PythonNumber {
  if (!isFloat(base) && !isFloat(exponent) && toDouble(exponent) >= 0) {
    const digits = toDouble(exponent) * Math.log10(Math.max(1, Math.abs(toDouble(base))))
    if (digits >= MOST_DIGITS) throw new PythonError('ValueError', TOO_LONG)
    return toInt(integerOf(base) ** integerOf(exponent))
  }
  const [x, y] = [finite(base), finite(exponent)]
  if (x === 0 && y < 0) throw new PythonError('ZeroDivisionError', '0.0 cannot be raised to a negative power')
  if (x < 0 && Number.isFinite(y) && !Number.isInteger(y))
    throw new PythonError('ComplexError', 'The power of a negative number is complex, and is not computed here.')
  const result = x ** y
  if (!Number.isFinite(result) && Number.isFinite(x) && Number.isFinite(y))
    throw new PythonError('OverflowError', "(34, 'Numerical result out of range')")
  return float(result)
}

export function compareNumbers(a: PythonNumber, b: PythonNumber): number {
  if (isFloat(a) || isFloat(b)) return toDouble(a) - toDouble(b)
  const [left, right] = [integerOf(a), integerOf(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Returns the number that is nearest to a ratio of whole numbers, which may have more digits than a double keeps. */
function ratio(a: bigint, b: bigint): number {
  const [over, under] = [a < 0n ? -a : a, b < 0n ? -b : b]
  const shift = Math.max(0, 66 + under.toString(2).length - over.toString(2).length)
  const shifted = over << BigInt(shift)
  // What is left over decides between two numbers that are as near otherwise.
  const quotient = ((shifted / under) << 1n) | (shifted % under === 0n ? 0n : 1n)
  const double = (Number(quotient) / 2 ** (shift + 1)) * (a < 0n === b < 0n ? 1 : -1)
  if (!Number.isFinite(double)) throw new PythonError('OverflowError', 'integer division result too large for a float')
  return double
}
