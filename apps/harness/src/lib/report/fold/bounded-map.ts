/** A map of names that come from outside, and so may be any number. */
export interface BoundedMap<Value> {
  /** The value of a name, made when it is new; `null` for a name that there is no room for. */
  of(name: string): Value | null
  /** In ascending order of the names. */
  entries(): [string, Value][]
}

/**
 * Creates a map that keeps the `limit` first names in sorted order, whatever order they come in.
 *
 * A name that is pushed out never gets back in, because `limit` smaller ones exist; so a name that is there at the end
 * was there since it was first seen, and its value is complete.
 */
export function createBoundedMap<Value>(limit: number, create: () => Value): BoundedMap<Value> {
  const values = new Map<string, Value>()
  let last: string | null = null
  const findLast = () => [...values.keys()].sort().at(-1) as string
  return {
    of(name) {
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
