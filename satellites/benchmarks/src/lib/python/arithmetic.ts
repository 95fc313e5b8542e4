import {
  entriesOf,
  float,
  isFloat,
  isTuple,
  isWholeFloat,
  numberOf,
  type PythonFloat,
  type PythonValue,
} from './value.ts'

/** A number of Python. An int that no double holds is a bigint. */
export type PythonNumber = number | bigint | PythonFloat

export function isNumber(value: unknown): value is PythonNumber {
  return typeof value === 'number' || typeof value === 'bigint' || isWholeFloat(value)
}

/** Returns the double next to a number. */
export function toDouble(value: PythonNumber): number {
  return typeof value === 'bigint' ? Number(value) : numberOf(value)
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
  const quick = doubles(Number(a), Number(b))
  return Number.isSafeInteger(quick) && typeof a === 'number' && typeof b === 'number'
    ? quick
    : toInt(ints(BigInt(a as bigint), BigInt(b as bigint)))
}

/** Returns an int as a number if a double holds it. */
export function toInt(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
