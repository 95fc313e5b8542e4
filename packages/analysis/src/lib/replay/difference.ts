import { isDeepStrictEqual } from 'node:util'

export interface Difference {
  /** The path to it, such as `observation.structured.guessesLeft`. */
  readonly field: string
  readonly recorded: unknown
  readonly replayed: unknown
}

/**
 * Returns the first difference of two JSON values; `null` if they are equal. The order of keys does not matter, and a
 * key with the value `undefined` counts as absent.
 *
 * @param field - the path to both values.
 */
export function findDifference(recorded: unknown, replayed: unknown, field = ''): Difference | null {
  // Most values are equal, and this built-in check takes a third of the time.
  return isDeepStrictEqual(recorded, replayed) ? null : search(recorded, replayed, field)
}

function search(recorded: unknown, replayed: unknown, field: string): Difference | null {
  if (recorded === replayed) return null
  if (!isComposite(recorded) || !isComposite(replayed) || Array.isArray(recorded) !== Array.isArray(replayed))
    return { field, recorded, replayed }
  for (const key in recorded) {
    const difference = search(recorded[key], replayed[key], join(field, key))
    if (difference) return difference
  }
  for (const key in replayed)
    if (!Object.hasOwn(recorded, key) && replayed[key] !== undefined)
      return { field: join(field, key), recorded: undefined, replayed: replayed[key] }
  return null
}

function join(field: string, key: string): string {
  return field === '' ? key : `${field}.${key}`
}

function isComposite(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
