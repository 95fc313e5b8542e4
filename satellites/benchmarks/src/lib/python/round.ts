import { float, isFloat, numberOf, type PythonFloat } from './value.ts'

/** Rounds as `round(value, digits)` does: of the exact binary value, halves to the even digit. An int stays an int. */
export function round(value: number | PythonFloat, digits = 0): number | PythonFloat {
  const number = numberOf(value)
  // A double has no more digits.
  const isExact = !Number.isFinite(number) || digits > 323
  const rounded = isExact ? number : digits < -308 ? number * 0 : Number(formatFixed(number, digits))
  return isFloat(value) ? float(rounded) : rounded
}

export function roundToInt(value: number | PythonFloat): number {
  return Number(formatFixed(numberOf(value), 0))
}

/**
 * Prints a finite number as `f'{value:.2f}'` does, with so many digits after the point; below 0, tens and hundreds are
 * rounded.
 */
export function formatFixed(value: number, digits: number): string {
  const [numerator, exponent] = fractionOf(Math.abs(value))
  // value · 10^digits = top / bottom
  const top = numerator * 10n ** BigInt(Math.max(digits, 0)) * 2n ** BigInt(Math.max(exponent, 0))
  const bottom = 10n ** BigInt(Math.max(-digits, 0)) * 2n ** BigInt(Math.max(-exponent, 0))
  const nearest = divideEven(top, bottom)
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  if (digits <= 0) return `${sign}${nearest}${nearest === 0n ? '' : '0'.repeat(-digits)}`
  const text = String(nearest).padStart(digits + 1, '0')
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** Divides integers that are not negative, and rounds to the nearest, and to the even one of two. */
export function divideEven(top: bigint, bottom: bigint): bigint {
  const [whole, rest] = [top / bottom, (top % bottom) * 2n]
  return rest > bottom || (rest === bottom && whole % 2n === 1n) ? whole + 1n : whole
}

/** Returns the exact value of a double as an integer times a power of two. */
function fractionOf(value: number): [numerator: bigint, exponent: number] {
  const bits = new DataView(new Float64Array([value]).buffer).getBigUint64(0, true)
  const power = Number((bits >> 52n) & 0x7ffn)
  const mantissa = bits & 0xfffffffffffffn
  return power === 0 ? [mantissa, -1074] : [mantissa + 0x10000000000000n, power - 1075]
}
