import { repr } from './repr.ts'
import { entriesOf, isFloat, isLargeInt, isOther, isTuple, isWholeFloat, type PythonValue } from './value.ts'

export interface DumpsOptions {
  /** Spaces of one level, as `indent`; default: all on one line. */
  readonly indent?: number
  /** Between items, and between a key and its value; default `', '` and `': '`, with an indent `','` and `': '`. */
  readonly separators?: readonly [item: string, key: string]
  /** Whether all that is not ASCII is escaped; default: true. */
  readonly ensureAscii?: boolean
}

/** Prints a value as `json.dumps` does. Throws a `TypeError` for what JSON does not have. */
export function dumps(value: PythonValue, options: DumpsOptions = {}): string {
  const { indent, ensureAscii = true, separators = [indent === undefined ? ', ' : ',', ': '] } = options
  const [between, colon] = separators
  const write = (item: PythonValue, depth: number): string => {
    if (typeof item === 'string') return quote(item, ensureAscii)
    if (Array.isArray(item)) return list('[]', item, (part) => write(part, depth + 1), depth)
    if (isOther(item)) throw new TypeError(`${item.$repr} is not JSON serializable`)
    if (isTuple(item)) return write(item.$tuple, depth)
    if (typeof item !== 'object' || item === null || isWholeFloat(item) || isLargeInt(item)) return writeScalar(item)
    const member = ([key, part]: readonly [PythonValue, PythonValue]) =>
      `${quote(typeof key === 'string' ? key : writeScalar(key), ensureAscii)}${colon}${write(part, depth + 1)}`
    return list('{}', entriesOf(item), member, depth)
  }
  const list = <T>([open, close]: string, items: readonly T[], print: (item: T) => string, depth: number) => {
    if (items.length === 0 || indent === undefined) return open + items.map(print).join(between) + close
    const line = `\n${' '.repeat(indent * (depth + 1))}`
    return open + line + items.map(print).join(between + line) + line.slice(0, line.length - indent) + close
  }
  return write(value, 0)
}

const NUMBERS: Readonly<Record<string, string>> = { nan: 'NaN', inf: 'Infinity', '-inf': '-Infinity' }

function writeScalar(value: PythonValue): string {
  if (value === null || typeof value === 'boolean') return String(value)
  const text = repr(value)
  return isFloat(value) ? (NUMBERS[text] ?? text) : text
}

function quote(text: string, ensureAscii: boolean): string {
  // JSON.stringify escapes halves of surrogate pairs, which Python leaves as they are without `ensure_ascii`.
  const quoted = JSON.stringify(text)
  if (ensureAscii) return quoted.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return text.isWellFormed()
    ? quoted
    : quoted.replace(
        /(?<!\\)((?:\\\\)*)\\u(d[89a-f]..)/g,
        (_, before, code) => before + String.fromCharCode(Number.parseInt(code, 16)),
      )
}
