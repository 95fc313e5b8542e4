import { float, isFloat, isLargeInt, isWholeFloat, numberOf, type PythonFloat, type PythonInt } from './value.ts'

export type PythonNumber = number | PythonFloat | PythonInt

export function isNumber(value: unknown): value is PythonNumber {
  return typeof value === 'number' || isWholeFloat(value) || isLargeInt(value)
}

/** Returns the double next to a number. */
export function toDouble(value: PythonNumber): number {
  return isLargeInt(value) ? Number(value.$int) : numberOf(value)
}

/** Returns an int as it is kept. */
export function toInt(value: bigint): number | PythonInt {
  return Number.isSafeInteger(Number(value)) ? Number(value) : { $int: String(value) }
}

/** Returns the integer that an int is. */
export function integerOf(value: number | PythonInt): bigint {
  return BigInt(isLargeInt(value) ? value.$int : value)
}

export const add = (a: PythonNumber, b: PythonNumber) =>
  either(
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  )
export const subtract = (a: PythonNumber, b: PythonNumber) =>
  either(
    a,
    b,
    (x, y) => x - y,
    (x, y) => x - y,
  )
export const multiply = (a: PythonNumber, b: PythonNumber) =>
  either(
    a,
    b,
    (x, y) => x * y,
    (x, y) => x * y,
  )

/** Computes exactly with ints, and with doubles if one is a float. */
function either(
  a: PythonNumber,
  b: PythonNumber,
  ints: (a: bigint, b: bigint) => bigint,
  doubles: (a: number, b: number) => number,
): PythonNumber {
  if (isFloat(a) || isFloat(b)) return float(doubles(toDouble(a), toDouble(b)))
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = doubles(a, b)
    if (Number.isSafeInteger(quick)) return quick
  }
  return toInt(ints(integerOf(a), integerOf(b)))
}
