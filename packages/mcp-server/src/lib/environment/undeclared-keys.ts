/** The first key of `given` that is not in `kept`. Unlike {@link findUndeclared}, looks no deeper: for every step of play. */
export function findUndeclaredKey(given: unknown, kept: object): string | undefined {
  for (const key in given as object) if (!Object.hasOwn(kept, key)) return key
  return undefined
}

/**
 * The path of the first key in `given` that is not in `kept`: what a schema drops because it does not declare it.
 * `null` where nothing is lost.
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
