import type { Json } from '@episodic/protocol'

/** A difference between two environments, with the kinds that DeepDiff has, and a path such as `inbox.emails.34`. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed' | 'retyped' | 'item-added' | 'item-removed'
  readonly path: string
}

/** Returns what is different between two environments as the original's models hold them. */
export function changesBetween(before: Json, after: Json, path = ''): Change[] {
  const at = (key: string | number) => (path === '' ? String(key) : `${path}.${key}`)
  if (Array.isArray(before) && Array.isArray(after)) {
    const both = Math.min(before.length, after.length)
    return [
      ...before.slice(0, both).flatMap((item, i) => changesBetween(item, after[i] as Json, at(i))),
      ...before.slice(both).map((_, i): Change => ({ kind: 'item-removed', path: at(both + i) })),
      ...after.slice(both).map((_, i): Change => ({ kind: 'item-added', path: at(both + i) })),
    ]
  }
  if (isDict(before) && isDict(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key): Change[] => {
      if (!Object.hasOwn(before, key)) return [{ kind: 'added', path: at(key) }]
      if (!Object.hasOwn(after, key)) return [{ kind: 'removed', path: at(key) }]
      return changesBetween(before[key] as Json, after[key] as Json, at(key))
    })
  if (before === after) return []
  return [{ kind: typeOf(before) === typeOf(after) ? 'changed' : 'retyped', path }]
}

/** Returns whether the changes are these alone, such as `added inbox.emails.34`, in any order. */
export function areChanges(changes: readonly Change[], ...wanted: readonly string[]): boolean {
  const found = changes.map(({ kind, path }) => `${kind} ${path}`).sort()
  return found.join('\n') === [...wanted].sort().join('\n')
}

function isDict(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeOf(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
