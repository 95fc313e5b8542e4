import { entriesOf, type PythonValue } from '../python/value.ts'
import { isEqual } from './equality.ts'

// A dict is an object if all its keys are texts that an object keeps in their order, and `{ $dict }` if not: see
// `value.ts`. Functions here change it in its place, also from the one to the other.

type Entries = [key: unknown, item: unknown][]
type Mutable = Record<string, unknown> & { $dict?: Entries }

const isPlainKey = (key: unknown): key is string => typeof key === 'string' && !/^\d+$|^\$|^__proto__$/.test(key)

/** Makes a dict. Of equal keys, the first has its place and the last its item. */
export function makeDict(entries: Iterable<readonly [unknown, unknown]>): PythonValue {
  const all = [...entries]
  if (all.every(([key]) => isPlainKey(key))) return Object.fromEntries(all)
  const byText = new Map(all.map((entry) => [JSON.stringify(entry[0]), entry]))
  const last = [...byText.values()]
  return { $dict: last.map(([key, item]) => [key, item]) } as PythonValue
}

/** Returns the item of a key, or `undefined`. */
export function findItem(dict: object, key: unknown): unknown {
  const { $dict } = dict as Mutable
  if ($dict) return $dict.find(([other]) => isEqual(other, key))?.[1]
  return typeof key === 'string' && Object.hasOwn(dict, key) ? (dict as Mutable)[key] : undefined
}

export function setItem(dict: object, key: unknown, item: unknown): void {
  const mutable = dict as Mutable
  if (!mutable.$dict && isPlainKey(key)) {
    mutable[key] = item
    return
  }
  if (!mutable.$dict) {
    const entries = entriesOf(mutable) as unknown as Entries
    for (const own of Object.keys(mutable)) delete mutable[own]
    mutable.$dict = entries
  }
  const at = mutable.$dict.findIndex(([other]) => isEqual(other, key))
  if (at < 0) mutable.$dict.push([key, item])
  else mutable.$dict[at] = [key, item]
}

/** Removes a key, and returns its item, or `undefined`. */
export function removeItem(dict: object, key: unknown): unknown {
  const mutable = dict as Mutable
  const found = findItem(dict, key)
  if (found === undefined) return undefined
  if (mutable.$dict)
    mutable.$dict.splice(
      mutable.$dict.findIndex(([other]) => isEqual(other, key)),
      1,
    )
  else delete mutable[key as string]
  return found
}
