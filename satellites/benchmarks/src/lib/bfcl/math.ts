import {
  add,
  integerOf,
  isNumber,
  multiply,
  type PythonNumber,
  subtract,
  toDouble,
  toInt,
} from '../python/arithmetic.ts'
import { round } from '../python/round.ts'
import { float, isFloat, type PythonFloat, type PythonValue } from '../python/value.ts'
import { type Api, PythonError } from './api.ts'
import { logarithm, squareRoot } from './precise.ts'

type Numbers = { numbers: PythonValue[] }

const METERS: Readonly<Record<string, PythonNumber>> = { km: 1000, m: 1, cm: 0.01, mm: 0.001, um: 1e-6, nm: 1e-9 }

const FACTORS: Readonly<Record<string, number>> = {
  ...{ cm_to_in: 0.393701, in_to_cm: 2.54, m_to_ft: 3.28084, ft_to_m: 0.3048, m_to_yd: 1.09361, yd_to_m: 0.9144 },
  ...{ km_to_miles: 0.621371, miles_to_km: 1.60934, kg_to_lb: 2.20462, lb_to_kg: 0.453592 },
  ...{ celsius_to_fahrenheit: 1.8, fahrenheit_to_celsius: 5 / 9 },
}

/** It has no state. */
export const math: Api<Record<string, never>> = {
  load: () => ({}),
  compared: () => ({}),

  methods: {
    logarithm(_, given: { value: PythonNumber; base: PythonNumber; precision: number }) {
      try {
        return { result: logarithm(given.value, given.base, given.precision) }
      } catch (error) {
        return { error: (error as Error).message }
      }
    },

    mean: (_, { numbers }: Numbers) => ofNumbers(numbers, 'calculate mean', meanOf),

    standard_deviation: (_, { numbers }: Numbers) =>
      ofNumbers(numbers, 'calculate standard deviation', (values) => {
        const mean = meanOf(values)
        const squares = values.map((value) => {
          const distance = toDouble(subtract(value, mean))
          return float(distance * distance)
        })
        return float(Math.sqrt(toDouble(meanOf(squares))))
      }),

    si_unit_conversion(_, { value, unit_in, unit_out }: { value: PythonNumber; unit_in: string; unit_out: string }) {
      if (!Object.hasOwn(METERS, unit_in) || !Object.hasOwn(METERS, unit_out)) return unsupported(unit_in, unit_out)
      const inMeters = multiply(value, METERS[unit_in] as PythonNumber)
      return { result: multiply(inMeters, float(1 / toDouble(METERS[unit_out] as PythonNumber))) }
    },

    imperial_si_conversion(
      _,
      { value, unit_in, unit_out }: { value: PythonNumber; unit_in: string; unit_out: string },
    ) {
      if (unit_in === unit_out) return { result: value }
      const key = `${unit_in}_to_${unit_out}`
      if (!Object.hasOwn(FACTORS, key)) return unsupported(unit_in, unit_out)
      const shift = (by: number) => (key === 'fahrenheit_to_celsius' ? subtract(value, by) : value)
      const result = multiply(shift(32), float(FACTORS[key] as number))
      return { result: key === 'celsius_to_fahrenheit' ? add(result, 32) : result }
    },

    add: (_, { a, b }: { a: PythonNumber; b: PythonNumber }) => ({ result: add(a, b) }),
    subtract: (_, { a, b }: { a: PythonNumber; b: PythonNumber }) => ({ result: subtract(a, b) }),
    multiply: (_, { a, b }: { a: PythonNumber; b: PythonNumber }) => ({ result: multiply(a, b) }),

    divide: (_, { a, b }: { a: PythonNumber; b: PythonNumber }) =>
      toDouble(b) === 0 ? { error: 'Cannot divide by zero' } : { result: float(toDouble(a) / toDouble(b)) },

    power: (_, { base, exponent }: { base: PythonNumber; exponent: PythonNumber }) => ({
      result: power(base, exponent),
    }),

    square_root(_, { number, precision }: { number: PythonNumber; precision: number }) {
      if (toDouble(number) < 0) return { error: 'Cannot calculate square root of a negative number' }
      return { result: squareRoot(number, precision) }
    },

    absolute_value: (_, { number }: { number: PythonNumber }) => ({
      result: toDouble(number) < 0 ? subtract(0, number) : number,
    }),

    round_number: (_, { number, decimal_places: places = 0 }: { number: PythonNumber; decimal_places?: number }) => ({
      result: round(number as number | PythonFloat, places),
    }),

    percentage: (_, { part, whole }: { part: PythonNumber; whole: PythonNumber }) =>
      toDouble(whole) === 0
        ? { error: 'Whole value cannot be zero' }
        : { result: float((toDouble(part) / toDouble(whole)) * 100) },

    min_value: (_, { numbers }: Numbers) =>
      ofNumbers(numbers, 'find minimum', (values) => values.reduce((a, b) => (toDouble(b) < toDouble(a) ? b : a))),

    max_value: (_, { numbers }: Numbers) =>
      ofNumbers(numbers, 'find maximum', (values) => values.reduce((a, b) => (toDouble(b) > toDouble(a) ? b : a))),

    sum_values: (_, { numbers }: Numbers) =>
      ofNumbers(numbers, 'calculate sum', (values) => values.reduce(add, 0 as PythonNumber)),
  },
}

function ofNumbers(numbers: PythonValue[], does: string, compute: (numbers: PythonNumber[]) => PythonNumber) {
  if (numbers.length === 0) return { error: `Cannot ${does} of an empty list` }
  if (!numbers.every(isNumber)) return { error: 'All elements in the list must be numbers' }
  return { result: compute(numbers) }
}

function meanOf(numbers: PythonNumber[]): PythonNumber {
  return float(toDouble(numbers.reduce(add, 0 as PythonNumber)) / numbers.length)
}

function unsupported(from: string, to: string) {
  return { error: `Conversion from '${from}' to '${to}' is not supported` }
}

/** Digits of an int that Python prints. */
const MOST_DIGITS = 4_300

function power(base: PythonNumber, exponent: PythonNumber): PythonNumber {
  const [x, y] = [toDouble(base), toDouble(exponent)]
  if (!isFloat(base) && !isFloat(exponent) && y >= 0) {
    const digits = y * Math.log10(Math.max(1, Math.abs(x)))
    if (digits >= MOST_DIGITS)
      throw new PythonError(
        `Exceeds the limit (${MOST_DIGITS} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit`,
      )
    return toInt(integerOf(base) ** integerOf(exponent))
  }
  if (x === 0 && y < 0) throw new PythonError('0.0 cannot be raised to a negative power')
  if (x < 0 && !Number.isInteger(y))
    throw new PythonError('The power of a negative number is complex, and is not computed here.')
  const result = x ** y
  if (!Number.isFinite(result)) throw new PythonError("(34, 'Numerical result out of range')")
  return float(result)
}
