import {
  add,
  compareNumbers,
  divide,
  divideDown,
  isNumber,
  multiply,
  type PythonNumber,
  power,
  remainder,
  subtract,
} from '../python/arithmetic.ts'
import { PythonError } from '../python/error.ts'
import { repr } from '../python/repr.ts'
import { entriesOf, isSet, isTime, isTuple, type PythonValue } from '../python/value.ts'
import { findItem, makeDict } from './dict.ts'
import { isEqual } from './equality.ts'
import { isDict, PythonClass, typeName, type Value } from './objects.ts'
import { after } from './times.ts'

/** Returns whether a value counts as true. */
export function isTrue(value: Value): boolean {
  if (typeof value === 'boolean') return value
  if (value === null || value === '' || value === 0) return false
  if (isNumber(value)) return compareNumbers(value, 0) !== 0
  return !(isCollection(value) && itemsOf(value).length === 0)
}

const isCollection = (value: Value) => Array.isArray(value) || isTuple(value) || isSet(value) || isDict(value)

/** Returns what `for` goes through. */
export function iterate(value: Value): Iterable<Value> {
  if (typeof value === 'string' || Array.isArray(value)) return value
  if (isCollection(value)) return itemsOf(value)
  if (typeof value === 'object' && value !== null && Symbol.iterator in value) return value as Iterable<Value>
  throw new PythonError('TypeError', `'${typeName(value)}' object is not iterable`)
}

/** Returns the items of a list, a tuple or a set, the characters of a text, and the keys of a dict. */
export function itemsOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value
  if (isTuple(value)) return value.$tuple
  if (isSet(value)) return value.$set
  if (isDict(value)) return entriesOf(value).map(([key]) => key)
  return [...iterate(value)]
}

export function makeSet(items: Iterable<Value>): { $set: Value[] } {
  const unique: Value[] = []
  for (const item of items) if (!unique.some((one) => isEqual(one, item))) unique.push(item)
  return { $set: unique }
}

type Operator = (a: Value, b: Value) => Value

const ofNumbers =
  (sign: string, compute: (a: PythonNumber, b: PythonNumber) => PythonNumber): Operator =>
  (a, b) => {
    const [left, right] = [toNumber(a), toNumber(b)]
    if (isNumber(left) && isNumber(right)) return compute(left, right)
    const types = `'${typeName(a)}' and '${typeName(b)}'`
    throw new PythonError('TypeError', `unsupported operand type(s) for ${sign}: ${types}`)
  }
const toNumber = (value: Value) => (typeof value === 'boolean' ? Number(value) : value)

const addNumbers = ofNumbers('+', add)
const subtractNumbers = ofNumbers('-', subtract)
const multiplyNumbers = ofNumbers('*', multiply)

/** What the signs between two values do. */
export const OPERATORS: Readonly<Record<string, Operator>> = {
  '+'(a, b) {
    if (typeof a === 'string' && typeof b === 'string') return a + b
    if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b]
    if (isTime(a)) return { $time: after(a.$time, b as number) }
    return isTuple(a) && isTuple(b) ? { $tuple: [...a.$tuple, ...b.$tuple] } : addNumbers(a, b)
  },
  '-': (a, b) => (isSet(a) && isSet(b) ? { $set: a.$set.filter((item) => !contains(b, item)) } : subtractNumbers(a, b)),
  '*'(a, b) {
    if (typeof a === 'string') return a.repeat(Math.max(0, Number(b)))
    if (Array.isArray(a)) return Array.from({ length: Math.max(0, Number(b)) }, () => a).flat()
    return multiplyNumbers(a, b)
  },
  '/': ofNumbers('/', divide),
  '//': ofNumbers('//', divideDown),
  '%': ofNumbers('%', remainder),
  '**': ofNumbers('** or pow()', power),
  '|'(a, b) {
    if (isSet(a) && isSet(b)) return makeSet([...a.$set, ...b.$set])
    return isDict(a) && isDict(b) ? makeDict([...entriesOf(a), ...entriesOf(b)]) : null
  },
  '&': (a, b) => ({ $set: itemsOf(a).filter((item) => contains(b, item)) }),
  '==': isEqual,
  '!=': (a, b) => !isEqual(a, b),
  '<': (a, b) => compare(a, b, '<') < 0,
  '<=': (a, b) => compare(a, b, '<=') <= 0,
  '>': (a, b) => compare(a, b, '>') > 0,
  '>=': (a, b) => compare(a, b, '>=') >= 0,
  in: (a, b) => contains(b, a),
  'not in': (a, b) => !contains(b, a),
  is: (a, b) => a === b,
  'is not': (a, b) => a !== b,
}

/** Returns whether an item is in a collection, or a text in a text. */
function contains(all: Value, item: Value): boolean {
  if (isDict(all)) return findItem(all, item) !== undefined
  if (typeof all === 'string') {
    if (typeof item === 'string') return all.includes(item)
    throw new PythonError('TypeError', `'in <string>' requires string as left operand, not ${typeName(item)}`)
  }
  for (const one of iterate(all)) if (isEqual(one, item)) return true
  return false
}

/** Returns a number below, at or above 0, as the first value is before, with or after the second. */
export function compare(a: Value, b: Value, sign = '<'): number {
  const [left, right] = [toNumber(a), toNumber(b)]
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right)
  if (isTime(a) && isTime(b)) return compare(a.$time, b.$time)
  // Bytes of UTF-8 have the order of code points, in which Python sorts.
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  const isPair = (Array.isArray(a) && Array.isArray(b)) || (isTuple(a) && isTuple(b))
  if (!isPair) {
    const types = `'${typeName(a)}' and '${typeName(b)}'`
    throw new PythonError('TypeError', `'${sign}' not supported between instances of ${types}`)
  }
  const [ours, theirs] = [itemsOf(a), itemsOf(b)]
  const other = ours.findIndex((item, i) => i >= theirs.length || !isEqual(item, theirs[i]))
  if (other < 0 || other >= theirs.length) return ours.length - theirs.length
  return compare(ours[other], theirs[other], sign)
}

/** A part of a sequence, such as `[1:]`. */
export class Slice {
  readonly bounds: readonly (number | null)[]

  constructor(bounds: readonly Value[]) {
    this.bounds = bounds as readonly (number | null)[]
  }

  of<T>(all: readonly T[]): T[] {
    const [from, to, step] = this.bounds
    if (step == null || step === 1) return all.slice(from ?? 0, to ?? all.length)
    if (step === -1 && from == null && to == null) return all.toReversed()
    throw new PythonError('NotImplementedError', `slices with a step of ${step} are not reproduced`)
  }
}

/** Returns what is at a key or a place. */
export function itemAt(owner: Value, key: Value): Value {
  // A type with its parameters, such as `BaseUserTask[Environment]`.
  if (owner instanceof PythonClass || typeof owner === 'function') return owner
  if (isDict(owner)) {
    const found = findItem(owner, key)
    if (found === undefined) throw new PythonError('KeyError', repr(key as PythonValue))
    return found
  }
  const isText = typeof owner === 'string'
  const items = isText ? [...owner] : itemsOf(owner)
  if (key instanceof Slice) {
    const part = key.of(items)
    return isText ? part.join('') : isTuple(owner) ? { $tuple: part } : part
  }
  return items[placeOf(items, key, typeName(owner))]
}

/** Returns where a key is in a list. Throws if there is nothing. */
export function placeOf(items: readonly Value[], key: Value, type = 'list'): number {
  if (typeof key !== 'number')
    throw new PythonError('TypeError', `${type} indices must be integers or slices, not ${typeName(key)}`)
  const place = key < 0 ? items.length + key : key
  if (place >= 0 && place < items.length) return place
  throw new PythonError('IndexError', `${type === 'str' ? 'string' : type} index out of range`)
}
