import { z } from 'zod'
import { isObject } from './json.ts'
import { findNearest } from './nearest-name.ts'
import { shorten } from './shorten.ts'

export interface UnknownKey {
  /** The keys from the top to it, itself included. */
  readonly path: readonly string[]
  readonly known: readonly string[]
}

/**
 * Returns the keys of a value that a schema neither declares nor keeps, at any depth. Most schemas drop them without a
 * word, so a misspelt key would silently have its default. Schemas that keep other keys (`z.looseObject`, `.catchall`)
 * have no unknown ones; of a union, the first option that accepts the value counts; what a transform reads cannot be
 * known.
 *
 * @param schema - or the keys that there are at the top, of what has no schema.
 */
export function findUnknownKeys(
  schema: z.core.$ZodType | readonly string[],
  value: unknown,
  path: readonly string[] = [],
): UnknownKey[] {
  if (typeof value !== 'object' || value === null) return []
  if (!('_zod' in schema))
    return Object.entries(value)
      .filter(([key, part]) => part !== undefined && !schema.includes(key))
      .map(([key]) => ({ path: [...path, key], known: schema }))
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return isObject(value) ? inObject(def, value, path) : []
    case 'record':
      return isObject(value) ? inObject({ shape: {}, catchall: def.valueType }, value, path) : []
    case 'array':
    case 'tuple':
      return Array.isArray(value)
        ? value.flatMap((item, i) => {
            const of = def.type === 'array' ? def.element : (def.items[i] ?? def.rest)
            return of ? findUnknownKeys(of, item, [...path, `${i}`]) : []
          })
        : []
    case 'union': {
      const chosen = def.options.find((option) => z.core.safeParse(option, value).success)
      return chosen ? findUnknownKeys(chosen, value, path) : []
    }
    case 'intersection': {
      const right = findUnknownKeys(def.right, value, path).map((found) => found.path.join('.'))
      return findUnknownKeys(def.left, value, path).filter((found) => right.includes(found.path.join('.')))
    }
    case 'pipe':
      return findUnknownKeys(def.in, value, path)
    case 'lazy':
      return findUnknownKeys(def.getter(), value, path)
    default:
      // Around another one, such as `optional` and `catch`.
      return 'innerType' in def ? findUnknownKeys(def.innerType, value, path) : []
  }
}

type Keys = Pick<z.core.$ZodObjectDef, 'shape' | 'catchall'>

function inObject({ shape, catchall }: Keys, value: object, path: readonly string[]): UnknownKey[] {
  const known = Object.keys(shape)
  const others = catchall && (catchall as z.core.$ZodTypes)._zod.def.type !== 'never' ? catchall : null
  return Object.entries(value).flatMap(([key, part]) => {
    const place = [...path, key]
    const schema = Object.hasOwn(shape, key) ? shape[key] : others
    return schema ? findUnknownKeys(schema, part, place) : [{ path: place, known }]
  })
}

const MOST = 5

/** Says which keys are not known, what they may have meant, and which there are, in sentences. */
export function formatUnknownKeys(unknown: readonly UnknownKey[]): string {
  const sentences = unknown.slice(0, MOST).map(({ path, known }) => {
    const before = path.slice(0, -1).map((key) => `${key}.`)
    const key = path.at(-1) as string
    const near = findNearest(key, known)
    const hint = near === null ? '' : ` Did you mean "${before.join('')}${near}"?`
    const list = known.length === 0 ? 'There are none here.' : `There is: ${known.join(', ')}.`
    return `There is no "${shorten([...before, key].join(''))}".${hint} ${list}`
  })
  if (unknown.length > MOST) sentences.push(`${unknown.length - MOST} more are not known.`)
  return shorten(sentences.join(' '), 1_000)
}
