let isInstalled = false

/** Lets `structuredClone` copy parts of large states as plain objects: rules do not know how large a state is. */
export function cloneParts(): void {
  if (isInstalled) return
  isInstalled = true
  const native = globalThis.structuredClone
  const clone: typeof native = (value, options) => {
    try {
      return native(value, options)
    } catch (error) {
      // It is the error for a proxy, and for some values that cannot be cloned at all.
      if ((error as Error).name !== 'DataCloneError') throw error
      return native(withoutParts(value, new Map()), options)
    }
  }
  Object.defineProperty(globalThis, 'structuredClone', { value: clone, configurable: true, writable: true })
}

/** Returns a copy of plain objects and arrays, with plain ones in the place of parts. */
function withoutParts<T>(value: T, known: Map<unknown, unknown>): T {
  if (typeof value !== 'object' || value === null) return value
  const copied = known.get(value)
  if (copied) return copied as T
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    known.set(value, copy)
    for (const item of value) copy.push(withoutParts(item, known))
    return copy as T
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy: Record<string, unknown> = {}
  known.set(value, copy)
  for (const key of Object.keys(value))
    Object.defineProperty(copy, key, {
      value: withoutParts((value as Record<string, unknown>)[key], known),
      configurable: true,
      enumerable: true,
      writable: true,
    })
  return copy as T
}
