import { toDouble } from './arithmetic.ts'
import { repr } from './repr.ts'
import { entriesOf, isFloat, isSet, isTuple, type PythonValue } from './value.ts'

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
  if (isSet(value)) return `{${value.$set.map(equalityText).sort()}}`
  if (typeof value !== 'object' || value === null || TAGS.some((tag) => tag in value)) return repr(value)
  return `{${entriesOf(value)
    .map(([key, item]) => `${equalityText(key)}:${equalityText(item)}`)
    .sort()}}`
}

const TAGS = ['$repr', '$int', '$time']
