import type { JsonObject } from '@episodic/protocol'
import { readCall } from '../python/expression.ts'
import { strip } from '../python/lines.ts'
import { repr } from '../python/repr.ts'
import { isFloat, isWholeFloat, numberOf, type PythonValue } from '../python/value.ts'
import type { Parameter, PythonFunction } from './python-functions.ts'

/** Whose version errors name. */
const ERRORS = 'https://errors.pydantic.dev/2.14/v'

const PERMISSIONS: readonly PythonValue[] = ['r', 'rw']
const TRUE: readonly PythonValue[] = [true, 1, '1', 'true', 't', 'yes', 'y', 'on']
const FALSE: readonly PythonValue[] = [false, 0, '0', 'false', 'f', 'no', 'n', 'off']

/** Arguments that a tool does not take, in pydantic's words. */
export class ArgumentError extends Error {}

export interface Misfit {
  readonly at: string
  readonly kind: string
  readonly says: string
  readonly value: PythonValue
}

/**
 * Returns the arguments of a tool as pydantic reads them: with defaults, and with numbers and truth values read from
 * texts. A text that is a list of Python is read as a list, which AgentDojo does before. Throws an
 * {@link ArgumentError} with the message of pydantic.
 */
export function readArguments(
  { name, parameters }: PythonFunction,
  given: JsonObject,
): Readonly<Record<string, PythonValue>> {
  const args = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, listed(value)]))
  const misfits: Misfit[] = []
  const values = parameters.map((parameter): [string, PythonValue] => {
    const { name: at, fallback } = parameter
    const value = args[at]
    if (value !== undefined) return [at, fit(parameter, value, misfits)]
    if (fallback === undefined) misfits.push({ at, kind: 'missing', says: 'Field required', value: args })
    return [at, fallback ?? null]
  })
  if (misfits.length === 0) return Object.fromEntries(values)
  throw new ArgumentError(formatMisfits(`Input schema for \`${name}\``, misfits))
}

/** Returns the message of a `ValidationError` of pydantic. */
export function formatMisfits(title: string, misfits: readonly Misfit[]): string {
  const parts = misfits.map(({ at, kind, says, value }) => {
    const found = `[type=${kind}, input_value=${shortened(repr(value))}, input_type=${typeName(value)}]`
    // What a validator of its own says has no page.
    const page = kind === 'value_error' ? '' : `\n    For further information visit ${ERRORS}/${kind}`
    return `${at}\n  ${says} ${found}${page}`
  })
  return `${misfits.length} validation error${misfits.length === 1 ? '' : 's'} for ${title}\n${parts.join('\n')}`
}

function listed(value: PythonValue): PythonValue {
  if (typeof value !== 'string' || !/^[ \t]*\[/.test(value)) return value
  try {
    const [read, ...more] = readCall(`list(${value})`).positional
    return Array.isArray(read) && more.length === 0 ? read : value
  } catch {
    return value
  }
}

function fit({ type, isNullable, name }: Parameter, value: PythonValue, misfits: Misfit[]): PythonValue {
  if (value === null && isNullable) return null
  return fitType(type, value, name, (at, kind, says, wrong) => misfits.push({ at, kind, says, value: wrong }))
}

type Reject = (at: string, kind: string, says: string, value: PythonValue) => void

function fitType(type: Parameter['type'], value: PythonValue, at: string, reject: Reject): PythonValue {
  const wrong = (kind: string, says: string) => {
    reject(at, kind, `Input should be ${says}`, value)
    return null
  }
  switch (type) {
    case 'str':
      return typeof value === 'string' ? value : wrong('string_type', 'a valid string')
    case 'int':
      if (typeof value === 'boolean') return Number(value)
      if (typeof value === 'number' || isWholeFloat(value))
        return Number.isInteger(numberOf(value))
          ? numberOf(value)
          : wrong('int_from_float', 'a valid integer, got a number with a fractional part')
      if (typeof value !== 'string') return wrong('int_type', 'a valid integer')
      if (/^[-+]?\d+(_\d+)*(\.0*)?$/.test(strip(value))) return Number(strip(value).replaceAll('_', ''))
      return wrong('int_parsing', 'a valid integer, unable to parse string as an integer')
    case 'float':
      if (typeof value === 'number' || isWholeFloat(value)) return numberOf(value)
      if (typeof value === 'boolean') return Number(value)
      if (typeof value !== 'string') return wrong('float_type', 'a valid number')
      if (/^[-+]?(\d+(_\d+)*\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(strip(value)))
        return Number(strip(value).replaceAll('_', ''))
      return wrong('float_parsing', 'a valid number, unable to parse string as a number')
    case 'bool': {
      const plain = typeof value === 'string' ? value.toLowerCase() : value
      if (TRUE.includes(plain) || FALSE.includes(plain)) return TRUE.includes(plain)
      return typeof value === 'string' || Number.isInteger(value)
        ? wrong('bool_parsing', 'a valid boolean, unable to interpret input')
        : wrong('bool_type', 'a valid boolean')
    }
    case 'SharingPermission':
      return PERMISSIONS.includes(value) ? value : wrong('enum', "'r' or 'rw'")
    case 'list[str]':
    case 'list[dict]':
      if (!Array.isArray(value)) return wrong('list_type', 'a valid list')
      return value.map((item, i) => {
        if (type === 'list[str]') return fitType('str', item, `${at}.${i}`, reject)
        if (typeof item === 'object' && item !== null && !Array.isArray(item)) return item
        reject(`${at}.${i}`, 'dict_type', 'Input should be a valid dictionary', item)
        return null
      })
  }
}

const MOST_BYTES = 50

/** Leaves out the middle of a long text, which is measured in bytes. */
function shortened(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= MOST_BYTES) return text
  const isInner = (at: number) => ((bytes[at] as number) & 0xc0) === 0x80
  let end = MOST_BYTES / 2
  while (isInner(end)) end -= 1
  let start = bytes.length - (MOST_BYTES / 2 - 1)
  while (isInner(start)) start += 1
  return `${bytes.subarray(0, end)}...${bytes.subarray(start)}`
}

function typeName(value: PythonValue): string {
  if (value === null) return 'NoneType'
  if (isFloat(value)) return 'float'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'object') return 'dict'
  if (typeof value === 'string') return 'str'
  return typeof value === 'boolean' ? 'bool' : 'int'
}
