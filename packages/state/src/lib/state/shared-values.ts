import { type Container, pageOf, type Value } from './page-node.ts'
import { treeOf } from './tree-of.ts'
import { shownBy } from './view.ts'

const frozen = new WeakSet<object>()

/** Values of the tree for objects of worlds that cannot change; `null` for small ones. */
const shared = new WeakMap<object, Value | null>()

/** Whether a value is an object that is frozen at every depth, as parts of large states are, and never changes. */
export function isFrozenWhole(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  // Of a wide object, `Object.isFrozen` looks at every key.
  if (frozen.has(value) || shownBy(value)) return true
  if (!Object.isFrozen(value)) return false
  const isWhole = Object.values(value).every(
    (inner) => typeof inner !== 'object' || inner === null || isFrozenWhole(inner),
  )
  if (isWhole) frozen.add(value)
  return isWhole
}

/**
 * Returns the value of the tree for an object that is frozen at every depth: the same one each time, so that sessions
 * that begin with it share it. Returns `null` for any other object, and for a small one.
 */
export function sharedValue(object: object, path: string): Value | null {
  const known = shownBy(object)?.container ?? shared.get(object)
  if (known !== undefined) return known
  if (!isFrozenWhole(object)) return null
  const built = treeOf(object, path, null)
  const value = pageOf(built) === null ? null : built
  shared.set(object, value)
  return value
}

/** Returns whether a value is an object that {@link sharedValue} knows, or would, as larger than so many bytes. */
export function isShared(value: unknown, path: string, bytes: number): boolean {
  return isFrozenWhole(value) && ((sharedValue(value, path) as Container | null)?.bytes ?? 0) > bytes
}
