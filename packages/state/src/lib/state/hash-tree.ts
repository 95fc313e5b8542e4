import { bytesOf, PAGE, PageNode, pagesIn, sizeOf, textBits, type Value, writeValues } from './page-node.ts'

// The values of a table by their keys: a hash tree (HAMT), whose shape depends on the entries and not on the order in
// which they came. What fits into one page is a bucket; anything else is a branch, by the next four bits of the hash.

const BITS = 4
const WIDTH = 2 ** BITS
/** The depth from which on 32 bits are used up, so that a bucket is as large as it is. */
const DEEPEST = 8

export type HashTree = Bucket | Branch

export function entrySize(key: string, value: Value): number {
  return sizeOf(key) + sizeOf(value) + 2
}

/** UTF-8 bytes of an entry in the JSON text of its table. */
export function entryBytes(key: string, value: Value): number {
  return bytesOf(key) + bytesOf(value) + 2
}

/** Entries in one page, in the order of their keys. */
export class Bucket extends PageNode {
  readonly keys: readonly string[]
  readonly values: readonly Value[]
  readonly size: number
  readonly bytes: number

  constructor(keys: readonly string[], values: readonly Value[], size: number, bytes: number) {
    super()
    this.keys = keys
    this.values = values
    this.size = size
    this.bytes = bytes
  }

  children(): readonly PageNode[] {
    return pagesIn(this.values)
  }

  protected write(): string {
    return `["bucket",${JSON.stringify(this.keys)},${writeValues(this.values)}]`
  }
}

const EMPTY = new Bucket([], [], 0, 0)

/** Parts of a table by some bits of the hash of their keys. */
export class Branch extends PageNode {
  /** By the value of the bits; `undefined` for no entry. */
  readonly parts: readonly (HashTree | undefined)[]
  readonly size: number
  readonly bytes: number
  /** The text of the branch that it was changed from, if that is at hand, until its own is written. */
  #before: string | null = null
  #changed: readonly number[] = []

  constructor(parts: readonly (HashTree | undefined)[]) {
    super()
    this.parts = parts
    let size = 0
    let bytes = 0
    for (const part of parts) {
      size += part?.size ?? 0
      bytes += part?.bytes ?? 0
    }
    this.size = size
    this.bytes = bytes
  }

  with(changed: ReadonlyMap<number, HashTree | undefined>): Branch {
    const parts = [...this.parts]
    for (const [place, part] of changed) parts[place] = part
    const branch = new Branch(parts)
    branch.#before = recentTexts.of(this.name)
    branch.#changed = [...changed.keys()]
    return branch
  }

  children(): readonly PageNode[] {
    return this.parts.filter((part) => part !== undefined)
  }

  override keep(name?: string): void {
    if (this.written !== null) recentTexts.add(this.name, this.written)
    super.keep(name)
  }

  protected write(): string {
    const names = this.#before?.slice(START.length, -END.length).split(',') ?? this.parts.map(nameIn)
    if (this.#before !== null) for (const place of this.#changed) names[place] = nameIn(this.parts[place])
    this.#before = null
    return START + names.join() + END
  }
}

/** What stands before and after the names in the text of a branch. */
const START = '["branch",['
const END = ']]'

function nameIn(part: HashTree | undefined): string {
  return part ? `"${part.name}"` : '0'
}

/**
 * The texts of the branches that were kept last, by their names. A branch is written again from its former text,
 * because its parts are all over the memory: to go to each for its name takes a third of a step on a state of 10 MiB.
 */
class RecentTexts {
  #young = new Map<string, string>()
  #old = new Map<string, string>()

  of(name: string): string | null {
    return this.#young.get(name) ?? this.#old.get(name) ?? null
  }

  add(name: string, text: string): void {
    this.#young.set(name, text)
    if (this.#young.size < RECENT) return
    this.#old = this.#young
    this.#young = new Map()
  }
}

/** Texts of a generation, of which there are two: together at most some two mebibytes. */
const RECENT = 2_048

const recentTexts = new RecentTexts()

/** Entries and what each of them takes, so that this is measured once and not again at every depth. */
interface Measured {
  readonly keys: readonly string[]
  readonly values: readonly Value[]
  readonly bits: Uint32Array
  readonly sizes: Uint32Array
  readonly bytes: Uint32Array
}

/** Returns the tree of entries; `values` are in the order of `keys`. */
export function hashTreeOf(keys: readonly string[], values: readonly Value[], depth = 0): HashTree {
  const count = keys.length
  const [bits, sizes, bytes] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)]
  const indexes: number[] = []
  for (let i = 0; i < count; i++) {
    const [key, value] = [keys[i] as string, values[i] as Value]
    bits[i] = textBits(key)
    sizes[i] = entrySize(key, value)
    bytes[i] = entryBytes(key, value)
    indexes.push(i)
  }
  return treeAt({ keys, values, bits, sizes, bytes }, indexes, depth)
}

function treeAt(entries: Measured, indexes: readonly number[], depth: number): HashTree {
  let size = 0
  let bytes = 0
  for (const index of indexes) {
    size += entries.sizes[index] as number
    bytes += entries.bytes[index] as number
  }
  if (isBucket(size, indexes.length, depth)) return bucketOf(entries, indexes, size, bytes)
  const parts: (number[] | undefined)[] = new Array(WIDTH).fill(undefined)
  for (const index of indexes) {
    const place = bitsAt(entries.bits[index] as number, depth)
    parts[place] ??= []
    parts[place].push(index)
  }
  return new Branch(parts.map((part) => part && treeAt(entries, part, depth + 1)))
}

function bucketOf({ keys, values }: Measured, indexes: readonly number[], size: number, bytes: number): Bucket {
  const order = [...indexes].sort((a, b) => ((keys[a] as string) < (keys[b] as string) ? -1 : 1))
  const inOrder = <T>(list: readonly T[]) => order.map((index) => list[index] as T)
  return new Bucket(inOrder(keys), inOrder(values), size, bytes)
}

function isBucket(size: number, count: number, depth: number): boolean {
  return size <= PAGE || count <= 1 || depth === DEEPEST
}

export function valueIn(tree: HashTree, key: string): Value | undefined {
  let node: HashTree | undefined = tree
  if (node instanceof Branch) {
    const bits = textBits(key)
    for (let depth = 0; node instanceof Branch; depth++) node = node.parts[bitsAt(bits, depth)]
  }
  if (!node) return undefined
  const index = indexIn(node.keys, key)
  return node.keys[index] === key ? node.values[index] : undefined
}

/** Returns the tree with the values of some keys set, or without those whose value is `undefined`. */
export function withValues(tree: HashTree, values: Iterable<readonly [string, Value | undefined]>): HashTree {
  const changes = Array.from(values, ([key, value]) => ({ key, value, bits: textBits(key) }))
  return changes.length === 0 ? tree : (changed(tree, changes, 0) ?? EMPTY)
}

interface EntryChange {
  readonly key: string
  readonly value: Value | undefined
  readonly bits: number
}

function changed(tree: HashTree | undefined, changes: readonly EntryChange[], depth: number): HashTree | undefined {
  if (!(tree instanceof Branch)) return changedBucket(tree ?? EMPTY, changes, depth)
  const parts = new Map<number, HashTree | undefined>()
  for (const [place, ofPart] of Map.groupBy(changes, ({ bits }) => bitsAt(bits, depth)))
    parts.set(place, changed(tree.parts[place], ofPart, depth + 1))
  const branch = tree.with(parts)
  if (branch.size > PAGE && !isAlone(branch)) return branch
  const { keys, values } = entriesIn(branch)
  return keys.length === 0 ? undefined : hashTreeOf(keys, values, depth)
}

/** A branch may be left with one large entry. */
function isAlone({ parts }: Branch): boolean {
  const left = parts.filter((part) => part !== undefined)
  return left.length === 1 && left[0] instanceof Bucket && left[0].keys.length === 1
}

function changedBucket(bucket: Bucket, changes: readonly EntryChange[], depth: number): HashTree | undefined {
  const keys = [...bucket.keys]
  const values = [...bucket.values]
  let { size, bytes } = bucket
  for (const { key, value } of changes) {
    const index = indexIn(keys, key)
    const old = keys[index] === key ? values[index] : undefined
    if (old !== undefined) {
      size -= entrySize(key, old)
      bytes -= entryBytes(key, old)
      keys.splice(index, 1)
      values.splice(index, 1)
    }
    if (value === undefined) continue
    size += entrySize(key, value)
    bytes += entryBytes(key, value)
    keys.splice(index, 0, key)
    values.splice(index, 0, value)
  }
  if (keys.length === 0) return undefined
  return isBucket(size, keys.length, depth) ? new Bucket(keys, values, size, bytes) : hashTreeOf(keys, values, depth)
}

function entriesIn(tree: HashTree): { readonly keys: string[]; readonly values: Value[] } {
  if (tree instanceof Bucket) return { keys: [...tree.keys], values: [...tree.values] }
  const parts = tree.parts.filter((part) => part !== undefined).map(entriesIn)
  return { keys: parts.flatMap(({ keys }) => keys), values: parts.flatMap(({ values }) => values) }
}

function bitsAt(bits: number, depth: number): number {
  return (bits >>> (depth * BITS)) & (WIDTH - 1)
}

function indexIn(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}
