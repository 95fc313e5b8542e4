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

type CallArguments = Record<'value' | 'base' | 'exponent' | 'a' | 'b' | 'number' | 'part' | 'whole', PythonNumber> & {
  precision: number
  unit_in: string
  unit_out: string
  decimal_places?: number
  numbers: PythonValue[]
}

const METERS = new Map(Object.entries({ km: 1000, m: 1, cm: 0.01, mm: 0.001, um: 1e-6, nm: 1e-9 }))

const FACTORS = new Map(
  Object.entries({
    ...{ cm_to_in: 0.393701, in_to_cm: 2.54, m_to_ft: 3.28084, ft_to_m: 0.3048, m_to_yd: 1.09361, yd_to_m: 0.9144 },
    ...{ km_to_miles: 0.621371, miles_to_km: 1.60934, kg_to_lb: 2.20462, lb_to_kg: 0.453592 },
    ...{ celsius_to_fahrenheit: 1.8, fahrenheit_to_celsius: 5 / 9 },
  }),
)

export const math: Api<object, CallArguments> = {
  load: () => ({}),
  methods: {
    logarithm(_, { value, base, precision }) {
      try {
        return { result: logarithm(value, base, precision) }
      } catch (error) {
        return { error: (error as Error).message }
      }
    },
    mean: (_, { numbers }) => ofNumbers(numbers, 'calculate mean', meanOf),
    standard_deviation: (_, { numbers }) =>
      ofNumbers(numbers, 'calculate standard deviation', (values) => {
        const mean = meanOf(values)
        const squares = values.map((value) => {
          const distance = toDouble(subtract(value, mean))
          return float(distance * distance)
        })
        return float(Math.sqrt(toDouble(meanOf(squares))))
      }),
    si_unit_conversion(_, { value, unit_in, unit_out }) {
      const [from, to] = [METERS.get(unit_in), METERS.get(unit_out)]
      if (!from || !to) return unsupported(unit_in, unit_out)
      return { result: multiply(multiply(value, from), float(1 / to)) }
    },
    imperial_si_conversion(_, { value, unit_in, unit_out }) {
      if (unit_in === unit_out) return { result: value }
      const key = `${unit_in}_to_${unit_out}`
      const factor = FACTORS.get(key)
      if (!factor) return unsupported(unit_in, unit_out)
      const result = multiply(key === 'fahrenheit_to_celsius' ? subtract(value, 32) : value, float(factor))
      return { result: key === 'celsius_to_fahrenheit' ? add(result, 32) : result }
    },
    add: (_, { a, b }) => ({ result: add(a, b) }),
    subtract: (_, { a, b }) => ({ result: subtract(a, b) }),
    multiply: (_, { a, b }) => ({ result: multiply(a, b) }),
    divide: (_, { a, b }) =>
      toDouble(b) === 0 ? { error: 'Cannot divide by zero' } : { result: float(toDouble(a) / toDouble(b)) },
    power: (_, { base, exponent }) => ({ result: power(base, exponent) }),
    square_root: (_, { number, precision }) =>
      toDouble(number) < 0
        ? { error: 'Cannot calculate square root of a negative number' }
        : { result: squareRoot(number, precision) },
    absolute_value: (_, { number }) => ({ result: toDouble(number) < 0 ? subtract(0, number) : number }),
    round_number: (_, { number, decimal_places = 0 }) => ({
      result: round(number as number | PythonFloat, decimal_places),
    }),
    percentage: (_, { part, whole }) =>
      toDouble(whole) === 0
        ? { error: 'Whole value cannot be zero' }
        : { result: float((toDouble(part) / toDouble(whole)) * 100) },
    min_value: (_, { numbers }) =>
      ofNumbers(numbers, 'find minimum', (values) => values.reduce((a, b) => (toDouble(b) < toDouble(a) ? b : a))),
    max_value: (_, { numbers }) =>
      ofNumbers(numbers, 'find maximum', (values) => values.reduce((a, b) => (toDouble(b) > toDouble(a) ? b : a))),
    sum_values: (_, { numbers }) => ofNumbers(numbers, 'calculate sum', sumOf),
  },
}

function ofNumbers(numbers: PythonValue[], does: string, compute: (numbers: PythonNumber[]) => PythonNumber) {
  if (numbers.length === 0) return { error: `Cannot ${does} of an empty list` }
  if (!numbers.every(isNumber)) return { error: 'All elements in the list must be numbers' }
  return { result: compute(numbers) }
}

function sumOf(numbers: PythonNumber[]): PythonNumber {
  return numbers.reduce((sum, number) => add(sum, number), 0)
}

function meanOf(numbers: PythonNumber[]): PythonNumber {
  return float(toDouble(sumOf(numbers)) / numbers.length)
}

function unsupported(from: string, to: string) {
  return { error: `Conversion from '${from}' to '${to}' is not supported` }
}

/** Digits of an int that Python prints. */
const MOST_DIGITS = 4_300
const TOO_LONG = `Exceeds the limit (${MOST_DIGITS} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit`

function power(base: PythonNumber, exponent: PythonNumber): PythonNumber {
  const [x, y] = [toDouble(base), toDouble(exponent)]
  if (!isFloat(base) && !isFloat(exponent) && y >= 0) {
    if (y * Math.log10(Math.max(1, Math.abs(x))) >= MOST_DIGITS) throw new PythonError(TOO_LONG)
    return toInt(integerOf(base) ** integerOf(exponent))
  }
  if (x === 0 && y < 0) throw new PythonError('0.0 cannot be raised to a negative power')
  if (x < 0 && !Number.isInteger(y))
    throw new PythonError('The power of a negative number is complex, and is not computed here.')
  const result = x ** y
  if (!Number.isFinite(result)) throw new PythonError("(34, 'Numerical result out of range')")
  return float(result)
}
