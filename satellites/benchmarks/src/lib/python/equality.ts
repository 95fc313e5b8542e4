import { toDouble } from './arithmetic.ts'
import { repr } from './repr.ts'
import { entriesOf, isFloat, isTuple, type PythonValue } from './value.ts'

/**
 * Returns whether two values are equal as `==` says: 1 is 1.0, and dicts have no order. A value is equal to itself, nan
 * too.
 */
export function isEqual(a: PythonValue, b: PythonValue): boolean {
  return a === b || equalityText(a) === equalityText(b)
}

/** Returns a text that is the same for values that are equal, and for no others. */
export function equalityText(value: PythonValue): string {
  if (typeof value === 'boolean') return String(Number(value))
  if (typeof value === 'string') return JSON.stringify(value)
  if (isFloat(value)) {
    const number = toDouble(value)
    return Number.isInteger(number) ? String(BigInt(number)) : String(number)
  }
  if (Array.isArray(value)) return `[${value.map(equalityText)}]`
  if (isTuple(value)) return `(${value.$tuple.map(equalityText)})`
  if (typeof value !== 'object' || value === null || '$repr' in value || '$int' in value) return repr(value)
  return `{${entriesOf(value)
    .map(([key, item]) => `${equalityText(key)}:${equalityText(item)}`)
    .sort()}}`
}
