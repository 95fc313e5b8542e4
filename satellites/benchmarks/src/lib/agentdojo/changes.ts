import { isSame } from './suite.ts'

/**
 * Returns what is different between two environments as the original's models hold them, such as
 * `added inbox.emails.34`. The kinds are those of DeepDiff: `added`, `removed`, `changed`, `retyped`, `item-added` and
 * `item-removed`.
 */
export function changesBetween(before: unknown, after: unknown, path = ''): string[] {
  if (before === after) return []
  const type = typeOf(before)
  if (type !== typeOf(after)) return [`retyped ${path}`]
  if (type !== 'array' && type !== 'object') return [`changed ${path}`]
  const item = type === 'array' ? 'item-' : ''
  const [old, now] = [before, after] as [Record<string, unknown>, Record<string, unknown>]
  return Object.keys({ ...old, ...now }).flatMap((key) => {
    const at = path === '' ? key : `${path}.${key}`
    if (!Object.hasOwn(old, key)) return [`${item}added ${at}`]
    return Object.hasOwn(now, key) ? changesBetween(old[key], now[key], at) : [`${item}removed ${at}`]
  })
}

/** Returns whether the changes are these alone, in any order. */
export function areChanges(changes: readonly string[], ...wanted: readonly string[]): boolean {
  return isSame([...changes].sort(), [...wanted].sort())
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
