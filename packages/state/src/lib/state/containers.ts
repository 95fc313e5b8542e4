import { entryBytes, entrySize, type HashTree, hashTreeOf, valueIn, withValues } from './hash-tree.ts'
import {
  type Container,
  INLINE,
  LongText,
  PAGE,
  PageNode,
  Plain,
  pageOf,
  pagesIn,
  sizeOf,
  type Value,
  writeValues,
} from './page-node.ts'
import { Sequence } from './sequence.ts'

export type Mapping = Fields | Table

export class Fields extends PageNode implements Container {
  /** In the order of the object's keys. */
  readonly entries: { readonly [key: string]: Value }
  readonly bytes: number

  constructor(keys: readonly string[], values: readonly Value[]) {
    super()
    // As `JSON.parse` does, this takes a key named `__proto__` for a key.
    this.entries = Object.fromEntries(keys.map((key, index) => [key, values[index] as Value]))
    this.bytes = keys.reduce((sum, key, index) => sum + entryBytes(key, values[index] as Value), 1)
  }

  get page(): PageNode {
    return this
  }

  keys(): readonly string[] {
    return Object.keys(this.entries)
  }

  at(key: string): Value | undefined {
    return Object.hasOwn(this.entries, key) ? this.entries[key] : undefined
  }

  children(): readonly PageNode[] {
    return pagesIn(Object.values(this.entries))
  }

  with({ removed, set }: EntryChanges): Value {
    const entries = new Map(Object.entries(this.entries))
    for (const key of removed) entries.delete(key)
    for (const [key, value] of set) entries.set(key, value)
    return objectOf([...entries.keys()], [...entries.values()])
  }

  protected write(): string {
    return `["object",${JSON.stringify(this.keys())},${writeValues(Object.values(this.entries))}]`
  }
}

/** An object with more entries: its keys in their order, and its values by their keys. */
export class Table extends PageNode implements Container {
  readonly order: Sequence
  readonly tree: HashTree
  readonly bytes: number

  constructor(order: Sequence, tree: HashTree) {
    super()
    this.order = order
    this.tree = tree
    this.bytes = tree.bytes + 1
  }

  get page(): PageNode {
    return this
  }

  keys(): readonly string[] {
    return this.order.toArray() as string[]
  }

  at(key: string): Value | undefined {
    return valueIn(this.tree, key)
  }

  children(): readonly PageNode[] {
    return [this.order.root, this.tree]
  }

  with({ removed, set }: EntryChanges): Value {
    let { order } = this
    const changes = new Map<string, Value | undefined>()
    for (const key of removed) {
      order = order.splice(order.indexOf(key), 1, [])
      changes.set(key, undefined)
    }
    const added: string[] = []
    for (const [key, value] of set) {
      if (changes.has(key) || valueIn(this.tree, key) === undefined) added.push(key)
      changes.set(key, value)
    }
    const tree = withValues(this.tree, changes)
    if (tree.size <= PAGE) {
      const keys = inOrder([...(order.toArray() as string[]), ...added])
      const values = keys.map((key) => valueIn(tree, key) as Value)
      return objectOf(keys, values)
    }
    if (added.length === 0) return new Table(order, tree)
    // JavaScript puts keys that are whole numbers before all others.
    if (!added.some(isIndex)) return new Table(order.splice(order.count, 0, added), tree)
    return new Table(Sequence.of(inOrder([...(order.toArray() as string[]), ...added])), tree)
  }

  protected write(): string {
    return JSON.stringify(['table', this.order.root.name, this.tree.name])
  }
}

/** Entries to remove from an object and then to set. A key that is set and is not there comes after all others. */
export interface EntryChanges {
  readonly removed: Iterable<string>
  readonly set: Iterable<readonly [key: string, value: Value]>
}

export class List implements Container {
  readonly items: Sequence

  constructor(items: Sequence) {
    this.items = items
  }

  get page(): PageNode {
    return this.items.root
  }

  get bytes(): number {
    return this.items.root.bytes + 1
  }

  with(start: number, deleted: number, inserted: readonly Value[]): Value {
    const items = this.items.splice(start, deleted, inserted)
    return items.levels.length > 1 ? new List(items) : arrayOf(items.toArray(), items)
  }
}

export function objectOf(keys: readonly string[], values: readonly Value[]): Value {
  let size = 0
  for (let i = 0; i < keys.length && size <= PAGE; i++) size += entrySize(keys[i] as string, values[i] as Value)
  if (size > PAGE) return new Table(Sequence.of(inOrder(keys)), hashTreeOf(keys, values))
  if (size > INLINE || values.some(pageOf)) return new Fields(keys, values)
  return Plain.of(Object.fromEntries(keys.map((key, index) => [key, inPlain(values[index] as Value)])))
}

/** Returns an array of the tree. `items` is the sequence of the values, if the caller has it. */
export function arrayOf(values: readonly Value[], items?: Sequence): Value {
  let size = 0
  let isPlain = true
  for (const value of values) {
    size += sizeOf(value) + 1
    isPlain &&= size <= INLINE && pageOf(value) === null
    if (!isPlain) break
  }
  return isPlain ? Plain.of(values.map(inPlain)) : new List(items ?? Sequence.of(values))
}

function inPlain(value: Value): unknown {
  return value instanceof Plain ? value.value : value
}

/** Returns a value as JSON.stringify writes it fastest: plain objects and arrays, for no one else to change. */
export function plainOf(value: Value | object): unknown {
  if (value instanceof Plain || value instanceof LongText) return value.value
  if (value instanceof List) return value.items.toArray().map(plainOf)
  if (value instanceof Fields || value instanceof Table)
    return Object.fromEntries(value.keys().map((key) => [key, plainOf(value.at(key) as Value)]))
  return value
}

/** Returns whether an object's key counts as a whole number, which decides its place among the others. */
function isIndex(key: string): boolean {
  const first = key.charCodeAt(0)
  if (!(first >= 48 && first <= 57)) return false
  const number = Number(key)
  return Number.isInteger(number) && number >= 0 && number < 2 ** 32 - 1 && String(number) === key
}

function inOrder(keys: readonly string[]): string[] {
  const indexes = keys.filter(isIndex).sort((a, b) => Number(a) - Number(b))
  return indexes.length === 0 ? [...keys] : [...indexes, ...keys.filter((key) => !isIndex(key))]
}
