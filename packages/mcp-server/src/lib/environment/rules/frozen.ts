/** Freezes a plain value at every depth, and returns it. */
export function freezeAll<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    for (const inner of Object.values(Object.freeze(value))) freezeAll(inner)
  return value
}
