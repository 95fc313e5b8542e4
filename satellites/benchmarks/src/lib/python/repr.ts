import { entriesOf, formatFloat, isLargeInt, isOther, isTuple, isWholeFloat, type PythonValue } from './value.ts'

/** Prints a value as `str` does: a text as it is, and else its `repr`. */
export function str(value: PythonValue): string {
  return typeof value === 'string' ? value : repr(value)
}

export function repr(value: PythonValue): string {
  if (value === null) return 'None'
  if (typeof value === 'string') return reprOfText(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value).toString() : formatFloat(value)
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`
  if (isWholeFloat(value)) return value.$float
  if (isLargeInt(value)) return value.$int
  if (isOther(value)) return value.$repr
  if (isTuple(value)) return `(${value.$tuple.map(repr).join(', ')}${value.$tuple.length === 1 ? ',' : ''})`
  return `{${entriesOf(value)
    .map(([key, item]) => `${repr(key)}: ${repr(item)}`)
    .join(', ')}}`
}

const NAMED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function reprOfText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  // Escaped is what Unicode does not count as printable; a half of a surrogate pair is of category C too.
  const body = text.replace(/[\\'"\p{C}\p{Z}]/gu, (character) => {
    if (character === ' ' || character === '"' || character === "'")
      return character === quote ? `\\${character}` : character
    const named = NAMED[character]
    if (named !== undefined) return named
    const code = (character.codePointAt(0) as number).toString(16)
    if (code.length <= 2) return `\\x${code.padStart(2, '0')}`
    return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
  })
  return quote + body + quote
}
