/**
 * A float whose value is whole, or no number of JSON: `{ $float: '1.0' }`, with the text that Python prints. JavaScript
 * has one type of numbers, and Python prints `1` and `1.0`. So an integral number is an int, any other number is a
 * float, and this is the rest. It is plain JSON: a state can hold it.
 */
export type PythonFloat = { readonly $float: string }

/** An int that no double holds, by its digits. */
export type PythonInt = { readonly $int: string }

/** A tuple, which prints otherwise than a list. */
export type PythonTuple = { readonly $tuple: readonly PythonValue[] }

/**
 * A dict whose keys are no strings, or look like integers, which objects reorder: its keys and values in their order.
 */
export type PythonDict = { readonly $dict: readonly (readonly [PythonValue, PythonValue])[] }

/** A value that JSON does not have, such as a `Decimal`, by its `repr`. */
export type PythonOther = { readonly $repr: string }

/** A value of Python, as plain JSON. A dict is an object or a {@link PythonDict}. */
export type PythonValue =
  | null
  | boolean
  | number
  | string
  | PythonFloat
  | PythonInt
  | PythonTuple
  | PythonDict
  | PythonOther
  | readonly PythonValue[]
  | { readonly [key: string]: PythonValue }

/** Returns a number as a float of Python: `float(1)` prints as `1.0`, and `float(0.5)` is 0.5 itself. */
export function float(value: number): number | PythonFloat {
  return Number.isFinite(value) && !Number.isInteger(value) ? value : { $float: formatFloat(value) }
}

export function isFloat(value: unknown): value is number | PythonFloat {
  return (typeof value === 'number' && !Number.isInteger(value)) || isWholeFloat(value)
}

function tagged(value: unknown, tag: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[tag] : undefined
}

export const isWholeFloat = (value: unknown): value is PythonFloat => typeof tagged(value, '$float') === 'string'
export const isLargeInt = (value: unknown): value is PythonInt => typeof tagged(value, '$int') === 'string'
export const isTuple = (value: unknown): value is PythonTuple => Array.isArray(tagged(value, '$tuple'))
export const isOther = (value: unknown): value is PythonOther => typeof tagged(value, '$repr') === 'string'

/** Returns the keys and values of a dict in their order. */
export function entriesOf(dict: object): PythonDict['$dict'] {
  const { $dict } = dict as PythonDict
  return Array.isArray($dict) ? $dict : Object.entries(dict)
}

/** Returns the number that an int or a float is. Throws for anything else, and for an int above 2⁵³. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  if (!isWholeFloat(value)) throw new TypeError(`${typeof value} is no number of Python that a double can hold.`)
  return Number(value.$float.replace('inf', 'Infinity'))
}

/**
 * Prints a number as the `repr` of a float: the shortest digits that read back, with an exponent below 1e-4 and from
 * 1e16.
 */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (Object.is(value, -0)) return '-0.0'
  const size = Math.abs(value)
  // JavaScript has no exponent from 1e-6 to 1e21.
  if (size === 0 || (size >= 1e-4 && size < 1e16)) return Number.isInteger(value) ? `${value}.0` : String(value)
  const [mantissa, power] = value.toExponential().split('e') as [string, string]
  return `${mantissa}e${power[0]}${power.slice(1).padStart(2, '0')}`
}
