import { findNonJson } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import { arrayOf, objectOf } from './containers.ts'
import { INLINE, LongText, type Value } from './page-node.ts'

/** Returns the value of the tree that a part of the state stands for, such as a draft; `null` for no such part. */
export type KnownParts = (object: object, path: string) => Value | null

/**
 * Returns a value that rules left as a value of the tree. `path` names it in errors. Throws `not-json` for what JSON
 * cannot say, as the checks of a small state do.
 */
export function treeOf(value: unknown, path: string, known: KnownParts): Value {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw notJson(path, ' holds a lone surrogate')
    return toText(value)
  }
  if (typeof value !== 'object' || value === null) {
    const problem = findNonJson(value, '')
    if (problem) throw notJson(path, problem)
    return value as null | boolean | number
  }
  const part = known(value, path)
  if (part !== null) return part
  if (Array.isArray(value)) {
    const values: Value[] = []
    for (let i = 0; i < value.length; i++) values.push(treeOf(value[i], `${path}[${i}]`, known))
    return arrayOf(values)
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw notJson(path, ` is a ${value.constructor?.name ?? 'class instance'}`)
  const keys = Object.keys(value)
  for (const key of keys) if (!key.isWellFormed()) throw notJson(path, ' has a key with a lone surrogate')
  return objectOf(
    keys,
    keys.map((key) => treeOf((value as Record<string, unknown>)[key], `${path}.${key}`, known)),
  )
}

/** Returns a text of the tree. */
function toText(text: string): Value {
  return text.length + 2 > INLINE || JSON.stringify(text).length > INLINE ? new LongText(text) : text
}

function notJson(path: string, problem: string): StateError {
  return new StateError('not-json', `The rules left a state that JSON cannot say: ${path}${problem}.`)
}
