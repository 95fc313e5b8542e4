import { isEqual } from '../interpreter/equality.ts'
import { Instance, isDict, type PythonClass, typeName, type Value } from '../interpreter/objects.ts'
import { entriesOf } from '../python/value.ts'

type Kind = `${'dictionary' | 'iterable'}_item_${'added' | 'removed'}` | 'values_changed' | 'type_changes'

/**
 * Returns what is different between two environments as `DeepDiff` says it: kinds with paths, such as
 * `root.inbox.emails['34']`.
 */
export function differences(before: Value, after: Value, typeOf: (value: Value) => PythonClass) {
  const found = new Map<Kind, Record<string, Value>>()
  const note = (kind: Kind, path: string, value: Value) => void found.set(kind, { ...found.get(kind), [path]: value })
  const visit = (old: Value, now: Value, path: string): void => {
    if (!isEqual(old, now)) compareParts(old, now, path)
  }
  const compareParts = (old: Value, now: Value, path: string) => {
    const values = { old_value: old, new_value: now }
    if (kindOf(old) !== kindOf(now))
      return note('type_changes', path, { old_type: typeOf(old), new_type: typeOf(now), ...values })
    const [parts, others] = [partsOf(old, path), partsOf(now, path)]
    if (!parts || !others) return note('values_changed', path, values)
    const item = Array.isArray(old) ? 'iterable_item' : 'dictionary_item'
    for (const [at, part] of parts) if (others.has(at)) visit(part, others.get(at), at)
    for (const [at, part] of parts) if (!others.has(at)) note(`${item}_removed`, at, part)
    for (const [at, part] of others) if (!parts.has(at)) note(`${item}_added`, at, part)
  }
  visit(before, after, 'root')
  return found
}

/** Returns what is in a value, by its path; `null` if nothing can be. */
function partsOf(value: Value, path: string): ReadonlyMap<string, Value> | null {
  if (Array.isArray(value)) return new Map(value.map((item, i) => [`${path}[${i}]`, item]))
  if (value instanceof Instance) return partsOf(value.fields, path)
  if (!isDict(value)) return null
  const isTable = '$dict' in value
  return new Map(entriesOf(value).map(([key, item]) => [isTable ? `${path}['${key}']` : `${path}.${key}`, item]))
}

/** Ints and floats are of one kind. */
function kindOf(value: Value): string {
  const type = typeName(value)
  return type === 'int' ? 'float' : type
}
