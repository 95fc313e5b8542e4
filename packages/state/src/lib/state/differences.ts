import { Fields, List, type Mapping, Table } from './containers.ts'
import { Bucket, type HashTree } from './hash-tree.ts'
import { LongText, PageNode, Plain, type Value } from './page-node.ts'
import type { Chunk, Sequence } from './sequence.ts'
import { shownBy, type Views } from './view.ts'

export interface PartDifference {
  /** The keys that lead to it; those of arrays are indexes. */
  readonly path: readonly string[]
  /** A value that is no object, or a whole part that the other does not have; `undefined` for nothing. */
  readonly before: unknown
  readonly after: unknown
}

/**
 * Returns where two values of JSON differ, in no order that means anything; the order of keys does not count. Parts of
 * large states are compared by their pages: what has not changed costs nothing.
 */
export function* differences(before: unknown, after: unknown): Generator<PartDifference> {
  yield* compare(sideOf(before), sideOf(after), [])
}

/** A value with the views by which its parts are read; `null` for a plain one. */
interface Side {
  readonly value: unknown
  readonly views: Views | null
}

type Path = readonly string[]

function sideOf(value: unknown): Side {
  const shown = shownBy(value)
  return shown ? { value: shown.container, views: shown.views } : { value, views: null }
}

function* compare(before: Side, after: Side, path: Path): Generator<PartDifference> {
  if (isSame(before.value, after.value)) return
  const [one, other] = [partsOf(before.value), partsOf(after.value)]
  if (!one || !other || isList(one) !== isList(other)) {
    const difference = { path, before: read(before), after: read(after) }
    // A long text is a page on one side alone once it has grown.
    if (difference.before !== difference.after) yield difference
  } else if (one instanceof Table && other instanceof Table)
    yield* compareTrees(one.tree, other.tree, { before, after, path })
  else if (one instanceof List && other instanceof List) yield* compareLists(one, other, { before, after, path })
  else {
    for (const key of new Set([...keysOf(one), ...keysOf(other)]))
      yield* compareAt(key, partAt(one, key), partAt(other, key), { before, after, path })
  }
}

interface Compared {
  readonly before: Side
  readonly after: Side
  readonly path: Path
}

function compareAt(key: string, one: unknown, other: unknown, { before, after, path }: Compared) {
  return compare(sideWithin(before, one), sideWithin(after, other), [...path, key])
}

/** What is in a plain object is no value of the tree, and may be a view. */
function sideWithin({ value: outer, views }: Side, value: unknown): Side {
  return views && !(outer instanceof Plain) ? { value, views } : sideOf(value)
}

function* compareTrees(one: HashTree, other: HashTree, within: Compared): Generator<PartDifference> {
  if (isSame(one, other)) return
  if (one instanceof Bucket || other instanceof Bucket) {
    const [first, second] = [entriesOf(one), entriesOf(other)]
    for (const key of new Set([...first.keys(), ...second.keys()]))
      yield* compareAt(key, first.get(key), second.get(key), within)
    return
  }
  for (const [place, part] of one.parts.entries()) {
    const beside = other.parts[place]
    if (part && beside) yield* compareTrees(part, beside, within)
    else {
      for (const [key, value] of entriesOf(part)) yield* compareAt(key, value, undefined, within)
      for (const [key, value] of entriesOf(beside)) yield* compareAt(key, undefined, value, within)
    }
  }
}

function entriesOf(tree: HashTree | undefined): Map<string, Value> {
  if (!tree) return new Map()
  if (tree instanceof Bucket) return new Map(tree.keys.map((key, index) => [key, tree.values[index] as Value]))
  return new Map(tree.parts.flatMap((part) => [...entriesOf(part)]))
}

function* compareLists(one: List, other: List, within: Compared): Generator<PartDifference> {
  const same = sameRuns(one.items, other.items)
  const most = Math.max(one.items.count, other.items.count)
  for (let index = 0; index < most; index++) {
    const end = same.get(index)
    // A run ends where the next one may begin.
    if (end !== undefined) index = end - 1
    else yield* compareAt(String(index), itemAt(one.items, index), itemAt(other.items, index), within)
  }
}

/** Returns where the chunks begin, and end, that two sequences have at the same place. */
function sameRuns(one: Sequence, other: Sequence): ReadonlyMap<number, number> {
  const beside = new Map<number, Chunk>()
  let start = 0
  for (const chunk of other.levels[0] as readonly Chunk[]) {
    beside.set(start, chunk)
    start += chunk.count
  }
  const runs = new Map<number, number>()
  start = 0
  for (const chunk of one.levels[0] as readonly Chunk[]) {
    const end = start + chunk.count
    if (isSame(chunk, beside.get(start))) runs.set(start, end)
    start = end
  }
  return runs
}

function itemAt(items: Sequence, index: number): unknown {
  return index < items.count ? items.at(index) : undefined
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  const [page, beside] = [one, other].map(pageIn)
  return page ? page.name === beside?.name : false
}

/** Returns the page of a value of the tree, or the node itself; `null` for any other value. */
function pageIn(value: unknown): PageNode | null {
  if (value instanceof PageNode) return value
  return value instanceof List ? value.page : null
}

type Parts = Mapping | List | readonly unknown[] | { readonly [key: string]: unknown }

function partsOf(value: unknown): Parts | null {
  if (typeof value !== 'object' || value === null || value instanceof LongText) return null
  return value instanceof Plain ? (value.value as Parts) : (value as Parts)
}

function isList(parts: Parts): boolean {
  return parts instanceof List || Array.isArray(parts)
}

function keysOf(parts: Parts): readonly string[] {
  if (parts instanceof List) return Array.from({ length: parts.items.count }, (_, index) => String(index))
  return parts instanceof Fields || parts instanceof Table ? parts.keys() : Object.keys(parts)
}

function partAt(parts: Parts, key: string): unknown {
  if (parts instanceof List) return itemAt(parts.items, Number(key))
  if (parts instanceof Fields || parts instanceof Table) return parts.at(key)
  return Object.hasOwn(parts, key) ? (parts as { readonly [key: string]: unknown })[key] : undefined
}

function read({ value, views }: Side): unknown {
  return views ? views.of(value as Value) : value
}
