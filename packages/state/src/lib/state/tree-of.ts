import { findNonJson } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import { arrayOf, objectOf } from './containers.ts'
import { INLINE, LongText, type Value } from './page-node.ts'

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
  known: KnownParts,
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
  const part = known(value, path) ?? read.get(value)
  if (part !== undefined) return part
  if (depth === DEEPEST) throw new RangeError(`${path} is nested too deep.`)
  const within = (inner: unknown, at: string) => treeOf(inner, at, known, read, depth + 1)
  const tree = Array.isArray(value) ? arrayWithin(value, path, within) : objectWithin(value, path, within)
  read.set(value, tree)
  return tree
}

type Within = (inner: unknown, path: string) => Value

function arrayWithin(array: readonly unknown[], path: string, within: Within): Value {
  const values: Value[] = []
  for (let i = 0; i < array.length; i++) values.push(within(array[i], `${path}[${i}]`))
  return arrayOf(values)
}

function objectWithin(value: object, path: string, within: Within): Value {
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw notJson(path, ` is a ${value.constructor?.name ?? 'class instance'}`)
  const keys = Object.keys(value)
  for (const key of keys) assertKey(key, path)
  return objectOf(
    keys,
    keys.map((key) => within((value as Record<string, unknown>)[key], `${path}.${key}`)),
  )
}

/** Throws `not-json` for a key that JSON cannot say. */
export function assertKey(key: string, path: string): void {
  if (!key.isWellFormed()) throw notJson(path, ' has a key with a lone surrogate')
}

/** Returns a text of the tree. */
function toText(text: string): Value {
  return text.length + 2 > INLINE || JSON.stringify(text).length > INLINE ? new LongText(text) : text
}

function notJson(path: string, problem: string): StateError {
  return new StateError('not-json', `The rules left a state that JSON cannot say: ${path}${problem}.`)
}
