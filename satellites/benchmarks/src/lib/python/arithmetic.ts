import { float, isFloat, isLargeInt, isWholeFloat, numberOf, type PythonFloat, type PythonInt } from './value.ts'

export type PythonNumber = number | PythonFloat | PythonInt

export function isNumber(value: unknown): value is PythonNumber {
  return typeof value === 'number' || isWholeFloat(value) || isLargeInt(value)
}

export function toDouble(value: PythonNumber): number {
  return isLargeInt(value) ? Number(value.$int) : numberOf(value)
}

/** Returns an int as it is kept. */
export function toInt(value: bigint): number | PythonInt {
  return Number.isSafeInteger(Number(value)) ? Number(value) : { $int: String(value) }
}

export function integerOf(value: number | PythonInt): bigint {
  return BigInt(isLargeInt(value) ? value.$int : value)
}

/** Computes exactly with ints, and with doubles if one is a float. */
function operation([ints, doubles]: [(a: bigint, b: bigint) => bigint, (a: number, b: number) => number]) {
  return (a: PythonNumber, b: PythonNumber): PythonNumber => {
    if (isFloat(a) || isFloat(b)) return float(doubles(toDouble(a), toDouble(b)))
    return toInt(ints(integerOf(a), integerOf(b)))
  }
}

export const add = operation([(a, b) => a + b, (a, b) => a + b])
export const subtract = operation([(a, b) => a - b, (a, b) => a - b])
export const multiply = operation([(a, b) => a * b, (a, b) => a * b])
