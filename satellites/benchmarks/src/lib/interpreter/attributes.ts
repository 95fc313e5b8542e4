import { PythonError } from '../python/error.ts'
import { findItem } from './dict.ts'
import { methodOf } from './methods.ts'
import { type Callable, Instance, isDict, PythonClass, typeName, type Value } from './objects.ts'

/**
 * Returns an attribute: a field or a method of an object, a member of a class, or a method of a type of the library. An
 * object without methods may be plain JSON: its fields are attributes too.
 */
export function attributeOf(owner: Value, name: string): Value {
  const found = findAttribute(owner, name)
  if (found !== undefined) return found
  throw new PythonError('AttributeError', `'${typeName(owner)}' object has no attribute '${name}'`)
}

function findAttribute(owner: Value, name: string): Value | undefined {
  if (owner instanceof PythonClass) return owner.find(name)
  if (owner instanceof Instance) {
    if (Object.hasOwn(owner.fields, name)) return owner.fields[name]
    const member = owner.type.find(name)
    if (typeof member !== 'function') return member
    return ((given, named) => (member as Callable)([owner, ...given], named)) satisfies Callable
  }
  const method = methodOf(owner, name)
  if (method) return ((given, named) => method(owner as never, given, named)) satisfies Callable
  return isDict(owner) ? findItem(owner, name) : undefined
}

export function setAttribute(owner: Value, name: string, value: Value): void {
  if (owner instanceof Instance) owner.fields[name] = value
  else if (isDict(owner)) (owner as Record<string, Value>)[name] = value
  else throw new PythonError('AttributeError', `'${typeName(owner)}' object has no attribute '${name}'`)
}
