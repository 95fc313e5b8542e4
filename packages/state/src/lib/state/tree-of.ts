import { findNonJson } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import { arrayOf, objectOf } from './containers.ts'
import { INLINE, LongText, Plain, type Value } from './page-node.ts'

/** Returns the value of the tree that a part of the state stands for, such as a draft; `null` for no such part. */
export type KnownParts = (object: object, path: string) => Value | null

/** Objects within objects that are kept. Programs that read JSON run out of stack at some thousands. */
const DEEPEST = 500

/**
 * Returns a value that rules left as a value of the tree. `path` names it in errors. An object that is in several
 * places is read once: a few objects that contain each other twice can stand for more values than there is time to
 * read.
 *
 * Throws `not-json` for what JSON cannot say, as the checks of a small state do, and a `RangeError` for what is nested
 * too deep, which is also what contains itself.
 */
export function treeOf(
  value: unknown,
  path: string,
  known: KnownParts | null,
  read = new Map<object, Value>(),
  depth = 0,
): Value {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw notJson(path, ' holds a lone surrogate')
    return toText(value)
  }
  if (typeof value !== 'object' || value === null) {
    const problem = findNonJson(value, '')
    if (problem) throw notJson(path, problem)
    return value as null | boolean | number
  }
  const part = known?.(value, path) ?? read.get(value)
  if (part !== undefined) return part
  const isKnown = known && ((object: object) => known(object, path) !== null)
  const plain = plainWithin(value, isKnown)
  if (plain) return plain
  if (depth === DEEPEST) throw new RangeError(`${path} is nested too deep.`)
  // A table has many rows, whose paths nobody asks for.
  const within = (inner: unknown, key: string) =>
    (isKnown === null && typeof inner === 'object' && inner !== null && plainWithin(inner, null)) ||
    treeOf(inner, path + key, known, read, depth + 1)
  const tree = Array.isArray(value) ? arrayWithin(value, within) : objectWithin(value, path, within)
  read.set(value, tree)
  return tree
}

type IsKnown = ((object: object) => boolean) | null

/** Returns an object or array that stays in the page of its parent, as most rows of tables; `null` for any other. */
function plainWithin(value: object, isKnown: IsKnown): Plain | null {
  if (roomAfter(value, INLINE, isKnown) < 0) return null
  const text = JSON.stringify(value)
  return text.length <= INLINE ? new Plain(text) : null
}

/**
 * Returns how many of so many characters the JSON text of a value leaves at most. Less than 0 for more of them, for
 * what JSON cannot say, and for what has a known part.
 */
function roomAfter(value: unknown, room: number, isKnown: IsKnown): number {
  if (typeof value === 'string') return value.isWellFormed() ? room - value.length - 2 : -1
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? room - 1 : -1
  if (typeof value === 'boolean' || value === null) return room - 4
  if (typeof value !== 'object' || room < 2 || isKnown?.(value)) return -1
  let left = room - 2
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = roomAfter(value[i], left - 1, isKnown)
    return left
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return -1
  for (const key in value) {
    if (left < 0 || !key.isWellFormed()) return -1
    left = roomAfter((value as Record<string, unknown>)[key], left - key.length - 4, isKnown)
  }
  return left
}

/** `key` is what follows the path of the object or array. */
type Within = (inner: unknown, key: string) => Value

function arrayWithin(array: readonly unknown[], within: Within): Value {
  const values: Value[] = []
  for (let i = 0; i < array.length; i++) values.push(within(array[i], `[${i}]`))
  return arrayOf(values)
}

function objectWithin(value: object, path: string, within: Within): Value {
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw notJson(path, ` is a ${value.constructor?.name ?? 'class instance'}`)
  const keys = Object.keys(value)
  for (const key of keys) assertKey(key, path)
  const values = keys.map((key) => within((value as Record<string, unknown>)[key], `.${key}`))
  return objectOf(keys, values)
}

export function assertKey(key: string, path: string): void {
  if (!key.isWellFormed()) throw notJson(path, ' has a key with a lone surrogate')
}

function toText(text: string): Value {
  return text.length + 2 > INLINE || JSON.stringify(text).length > INLINE ? new LongText(text) : text
}

function notJson(path: string, problem: string): StateError {
  return new StateError('not-json', `The rules left a state that JSON cannot say: ${path}${problem}.`)
}
