/** Returns the first key of `given` that is not in `kept`, at the top level only: cheap enough for every step. */
export function findUndeclaredKey(given: unknown, kept: object): string | undefined {
  for (const key in given as object) if (!Object.hasOwn(kept, key)) return key
  return undefined
}

/**
 * Returns the path of the first key in `given`, at any depth, that is not in `kept`: a key that a schema dropped.
 * `null` if there is none.
 */
export function findUndeclared(given: unknown, kept: unknown, path = ''): string | null {
  if (typeof given !== 'object' || given === null || typeof kept !== 'object' || kept === null) return null
  for (const [key, value] of Object.entries(given)) {
    const place = path === '' ? key : `${path}.${key}`
    if (!Object.hasOwn(kept, key)) return place
    const found = findUndeclared(value, (kept as Record<string, unknown>)[key], place)
    if (found !== null) return found
  }
  return null
}
