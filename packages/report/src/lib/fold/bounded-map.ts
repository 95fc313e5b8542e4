/**
 * Creates a map of names from outside that keeps the `limit` smallest of them, in whatever order they arrive.
 *
 * A name that is dropped never returns, because `limit` smaller ones exist. So a name that is present at the end has
 * been present since it was first seen, and its value is complete.
 */
export function createBoundedMap<Value>(limit: number, create: () => Value) {
  const values = new Map<string, Value>()
  let last: string | null = null
  const findLast = () => [...values.keys()].sort().at(-1) as string
  return {
    /** The value of a name, created on first use; `null` if the map has no room for it. */
    of(name: string): Value | null {
      const found = values.get(name)
      if (found !== undefined) return found
      if (values.size === limit) {
        last ??= findLast()
        if (name > last) return null
        values.delete(last)
        last = null
      }
      const value = create()
      values.set(name, value)
      if (last !== null && name > last) last = name
      return value
    },
    entries: () => [...values].sort(([a], [b]) => (a < b ? -1 : 1)),
  }
}
