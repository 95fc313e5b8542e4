/** Where two values of JSON part. */
export interface Difference {
  /** The path to it, such as `observation.structured.guessesLeft`. */
  readonly field: string
  /** `undefined` where there is none. */
  readonly recorded: unknown
  readonly replayed: unknown
}

/**
 * Finds the first place where two values of JSON part; `null` where both say the same. The order of keys says
 * nothing, and a key of `undefined` is no key, as JSON has it.
 *
 * @param field - the path to both, where they are a part of something.
 */
export function findDifference(recorded: unknown, replayed: unknown, field = ''): Difference | null {
  if (recorded === replayed) return null
  if (!isComposite(recorded) || !isComposite(replayed) || Array.isArray(recorded) !== Array.isArray(replayed))
    return { field, recorded, replayed }
  for (const key in recorded) {
    const difference = findDifference(recorded[key], replayed[key])
    // The path is put together where it is wanted: most values are equal.
    if (difference) return { ...difference, field: join(field, join(key, difference.field)) }
  }
  for (const key in replayed)
    if (!Object.hasOwn(recorded, key) && replayed[key] !== undefined)
      return { field: join(field, key), recorded: undefined, replayed: replayed[key] }
  return null
}

function join(field: string, key: string): string {
  return field === '' || key === '' ? field + key : `${field}.${key}`
}

function isComposite(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
