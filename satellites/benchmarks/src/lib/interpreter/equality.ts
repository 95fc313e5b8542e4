import { equalityText } from '../python/equality.ts'
import { entriesOf, isLargeInt, isSet, isTuple, isWholeFloat, type PythonValue } from '../python/value.ts'
import { Instance, PythonClass } from './objects.ts'

/**
 * Returns whether two values are equal as `==` says: 1 is 1.0 and True, and dicts and sets have no order. A value is
 * equal to itself, nan too.
 */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a === 'string' || typeof b === 'string' || a === null || b === null) return false
  if ([a, b].some((one) => typeof one === 'function' || one instanceof PythonClass)) return false
  if (a instanceof Instance || b instanceof Instance)
    return a instanceof Instance && b instanceof Instance && a.type === b.type && isEqual(a.fields, b.fields)
  const [left, right] = [listOf(a), listOf(b)]
  if (left || right)
    return left?.length === right?.length && left?.every((item, i) => isEqual(item, right?.[i])) === true
  if (isSet(a) && isSet(b))
    return a.$set.length === b.$set.length && a.$set.every((item) => b.$set.some((other) => isEqual(item, other)))
  if (typeof a !== 'object' || typeof b !== 'object' || isTagged(a) || isTagged(b))
    return equalityText(a as PythonValue) === equalityText(b as PythonValue)
  const [ours, theirs] = [entriesOf(a), entriesOf(b)]
  if (ours.length !== theirs.length) return false
  return ours.every(([key, item], i) => {
    const [other, same] = theirs[i] ?? []
    if (isEqual(key, other)) return isEqual(item, same)
    const found = theirs.find(([one]) => isEqual(key, one))
    return found !== undefined && isEqual(item, found[1])
  })
}

/** The items of a list, or of a tuple with a mark before them. */
function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : isTuple(value) ? [isTuple, ...value.$tuple] : undefined
}

const isTagged = (value: object) => isWholeFloat(value) || isLargeInt(value) || '$repr' in value || '$time' in value
