import { integerOf, type PythonNumber, toDouble } from '../python/arithmetic.ts'
import { divideEven } from '../python/round.ts'
import { isFloat, type PythonOther } from '../python/value.ts'
import { PythonError } from './api.ts'

// Two functions of the original compute with more digits than a double has, and answer with what prints as `mpf('…')`
// of mpmath and `Decimal('…')`. Binary digits are kept here as an integer times a power of two.

interface Binary {
  readonly digits: bigint
  readonly exponent: number
}

const BITS_OF_A_DIGIT = 3.3219280948873626

/** Computes `mpmath.log(value) / mpmath.log(base)` with so many decimal digits. Throws what that throws. */
export function logarithm(value: PythonNumber, base: PythonNumber, precision: number): PythonOther {
  const bits = Math.max(1, roundEven((precision + 1) * BITS_OF_A_DIGIT))
  const [top, bottom] = [naturalLog(value, bits), naturalLog(base, bits)]
  if (bottom?.digits === 0n) throw new PythonError('')
  if (top === null) return mpf(bottom === null ? 'nan' : bottom.digits > 0n ? '-inf' : '+inf')
  if (bottom === null || top.digits === 0n) return mpf('0.0')
  const shift = Math.max(0, bits + 10 + lengthOf(bottom.digits) - lengthOf(top.digits))
  const [a, b] = [absolute(top.digits) << BigInt(shift), absolute(bottom.digits)]
  // The lowest bit stands for all that is left over.
  const quotient = ((a / b) << 1n) | (a % b === 0n ? 0n : 1n)
  const sign = top.digits < 0n === bottom.digits < 0n ? '' : '-'
  const exponent = top.exponent - bottom.exponent - shift - 1
  return mpf(sign + printBinary(roundTo({ digits: quotient, exponent }, bits), bits))
}

function mpf(text: string): PythonOther {
  return { $repr: `mpf('${text}')` }
}

/** Returns the logarithm rounded to so many bits; `null` for that of 0, which is minus infinity. */
function naturalLog(value: PythonNumber, bits: number): Binary | null {
  const { digits, exponent } = binaryOf(value)
  if (digits === 0n) return null
  if (digits < 0n) throw new PythonError('The logarithm of a negative number is complex, and is not computed here.')
  // Numbers next to 1 lose as many bits as a double has.
  const work = bits + 128
  const one = 1n << BigInt(work)
  const length = lengthOf(digits)
  // In [1/2, 1), or next to 1 on both sides.
  const half = shiftBy(digits, work - length)
  const isLow = half * 3n < one * 2n
  const power = BigInt(length + exponent - Number(isLow))
  const sum = lnNear(isLow ? half * 2n : half, one) - power * lnNear(one / 2n, one)
  return roundTo({ digits: sum, exponent: -work }, bits)
}

/** Computes a logarithm as 2·atanh((x − 1) / (x + 1)). */
function lnNear(x: bigint, one: bigint): bigint {
  const ratio = ((x - one) * one) / (x + one)
  const square = (ratio * ratio) / one
  let [sum, term] = [0n, ratio]
  for (let odd = 1n; term !== 0n; odd += 2n) {
    sum += term / odd
    term = (term * square) / one
  }
  return 2n * sum
}

/** Rounds to the nearest, and to the even one of two. */
function roundTo({ digits, exponent }: Binary, bits: number): Binary {
  const excess = lengthOf(digits) - bits
  if (excess <= 0) return { digits, exponent }
  const rounded = divideEven(absolute(digits), 1n << BigInt(excess))
  return { digits: digits < 0n ? -rounded : rounded, exponent: exponent + excess }
}

/** Prints as mpmath does, so that the text reads back as the number. */
function printBinary({ digits, exponent }: Binary, bits: number): string {
  const places = Math.max(1, roundEven(bits / BITS_OF_A_DIGIT - 1))
  const shown = places === 15 ? 17 : places + 3
  const fixed = Math.max(Math.trunc((shown + 3) * BITS_OF_A_DIGIT) + 10 - exponent - lengthOf(digits), 0)
  const decimals = Math.trunc(fixed / BITS_OF_A_DIGIT + 0.5)
  const all = String((shiftBy(digits, exponent + fixed) * 10n ** BigInt(decimals)) >> BigInt(fixed))
  const up = String(BigInt(all.slice(0, shown)) + BigInt(Number(all[shown] ?? 0) >= 5))
  const power = all.length - decimals - 1 + up.length - Math.min(all.length, shown)
  const isFixed = Math.min(-Math.floor(shown / 3), -5) < power && power < shown
  const kept = (isFixed ? '0'.repeat(Math.max(0, -power)) : '') + up.slice(0, shown)
  const split = isFixed ? Math.max(power, 0) + 1 : 1
  const fraction = kept.slice(split).replace(/0+$/, '') || '0'
  return `${kept.slice(0, split)}.${fraction}${isFixed ? '' : `e${power < 0 ? '' : '+'}${power}`}`
}

/** Computes `Decimal(value).sqrt()` with so many digits, of a number that is not negative. */
export function squareRoot(value: PythonNumber, precision: number): PythonOther {
  if (precision < 1) throw new PythonError('valid range for prec is [1, MAX_PREC]')
  const { digits, exponent } = binaryOf(value)
  // As an integer times a power of ten: a half is 5 · 10⁻¹.
  const scale = Math.min(0, exponent)
  let coefficient = exponent < 0 ? digits * 5n ** BigInt(-exponent) : digits << BigInt(exponent)
  if (scale % 2 !== 0) coefficient *= 10n
  const length = Math.ceil(String(coefficient).length / 2)
  const ideal = Math.floor(scale / 2)
  if (coefficient === 0n) return decimal('0', ideal)
  const shift = precision + 1 - length
  const hundreds = 100n ** BigInt(Math.abs(shift))
  const scaled = shift >= 0 ? coefficient * hundreds : coefficient / hundreds
  let root = integerRoot(scaled)
  if (root * root === scaled && (shift >= 0 || coefficient % hundreds === 0n)) {
    const tens = 10n ** BigInt(Math.abs(shift))
    return fit(shift >= 0 ? root / tens : root * tens, ideal, precision)
  }
  // It is not the exact root, so it is never half way between two.
  if (root % 5n === 0n) root += 1n
  return fit(root, ideal - shift, precision)
}

function fit(coefficient: bigint, exponent: number, precision: number): PythonOther {
  const excess = String(coefficient).length - precision
  if (excess <= 0) return decimal(String(coefficient), exponent)
  const rounded = String(divideEven(coefficient, 10n ** BigInt(excess)))
  return decimal(rounded.slice(0, precision), exponent + excess + rounded.length - Math.min(rounded.length, precision))
}

function decimal(digits: string, exponent: number): PythonOther {
  const left = exponent + digits.length
  const isFixed = exponent <= 0 && left > -6
  const split = isFixed ? left : 1
  const padded = split <= 0 ? '0'.repeat(1 - split) + digits : digits
  const at = Math.max(split, 1)
  const fraction = padded.slice(at)
  const power = isFixed || left === split ? '' : `E${left > split ? '+' : ''}${left - split}`
  return { $repr: `Decimal('${padded.slice(0, at)}${fraction && `.${fraction}`}${power}')` }
}

function integerRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(lengthOf(value) / 2))
  for (let next = (root + value / root) / 2n; next < root; next = (root + value / root) / 2n) root = next
  return root
}

function binaryOf(value: PythonNumber): Binary {
  if (!isFloat(value)) return { digits: integerOf(value), exponent: 0 }
  let [number, exponent] = [toDouble(value), 0]
  for (; !Number.isInteger(number); exponent -= 1) number *= 2
  return { digits: BigInt(number), exponent }
}

function roundEven(value: number): number {
  const rounded = Math.round(value)
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded
}

function shiftBy(value: bigint, bits: number): bigint {
  return bits >= 0 ? value << BigInt(bits) : value >> BigInt(-bits)
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value
}

function lengthOf(value: bigint): number {
  return value === 0n ? 0 : absolute(value).toString(2).length
}
