import { entriesOf, type PythonValue } from '../python/value.ts'

/** A dict of a state whose keys may be anything, in their order. */
export type Dict<Item = PythonValue> = { $dict: [key: PythonValue, item: Item][] }

export function dictOf<Item = PythonValue>(value: PythonValue): Dict<Item> {
  return { $dict: entriesOf(value as object).map(([key, item]) => [key, item as Item]) }
}

export function findItem<Item>({ $dict }: Dict<Item>, key: PythonValue): Item | null {
  return $dict.find(([other]) => other === key)?.[1] ?? null
}

/** Returns the item of a key, which is added if there is none. */
export function itemOr<Item>(dict: Dict<Item>, key: PythonValue, item: Item): Item {
  const found = findItem(dict, key)
  if (found === null) dict.$dict.push([key, item])
  return found ?? item
}

export function setItem<Item>({ $dict }: Dict<Item>, key: PythonValue, item: Item): void {
  const at = $dict.findIndex(([other]) => other === key)
  $dict[at < 0 ? $dict.length : at] = [key, item]
}
