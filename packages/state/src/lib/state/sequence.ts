import {
  bytesOf,
  nameBits,
  PAGE,
  PageNode,
  pageOf,
  pagesIn,
  REFERENCE,
  sizeOf,
  textBits,
  type Value,
  writeValue,
  writeValues,
} from './page-node.ts'

/** Characters that a chunk has at least, unless the sequence ends. */
const LEAST = PAGE / 4

/** One of so many items ends a chunk that is long enough. */
const RARITY = 16

/**
 * A part of a sequence: items at level 0, chunks of the level below at any other.
 *
 * Where a chunk ends is decided by its items alone, so an insertion changes the chunks around it, and those after it
 * only until one ends where it ended before.
 */
export class Chunk extends PageNode {
  readonly level: number
  readonly items: readonly (Value | Chunk)[]
  readonly count: number
  readonly bytes: number

  constructor(level: number, items: readonly (Value | Chunk)[]) {
    super()
    this.level = level
    this.items = items
    let count = 0
    let bytes = 0
    for (const item of items) {
      count += item instanceof Chunk ? item.count : 1
      bytes += item instanceof Chunk ? item.bytes : bytesOf(item) + 1
    }
    this.count = count
    this.bytes = bytes
  }

  children(): readonly PageNode[] {
    return this.level === 0 ? pagesIn(this.items as readonly Value[]) : (this.items as readonly Chunk[])
  }

  protected write(): string {
    if (this.level > 0) return JSON.stringify(['list', (this.items as readonly Chunk[]).map(({ name }) => name)])
    return `["array",${writeValues(this.items as readonly Value[])}]`
  }
}

/** An immutable sequence of values in chunks: found by index, changed at the cost of the change. */
export class Sequence {
  /** Each level from the items up; the last one has one chunk. */
  readonly levels: readonly (readonly Chunk[])[]
  #ends: readonly number[] | null = null

  constructor(levels: readonly (readonly Chunk[])[]) {
    this.levels = levels
  }

  static of(items: readonly Value[]): Sequence {
    return new Sequence([[]]).splice(0, 0, items)
  }

  static below(root: Chunk): Sequence {
    const levels: (readonly Chunk[])[] = [[root]]
    for (let level = levels[0]; level?.[0] && level[0].level > 0; level = levels[0])
      levels.unshift(level.flatMap(({ items }) => items as readonly Chunk[]))
    return new Sequence(levels)
  }

  get root(): Chunk {
    return this.levels.at(-1)?.[0] as Chunk
  }

  get count(): number {
    return this.root.count
  }

  at(index: number): Value {
    const leaves = this.levels[0] as readonly Chunk[]
    if (leaves.length === 1) return leaves[0]?.items[index] as Value
    const ends = this.#endsOfLeaves(leaves)
    let low = 0
    let high = leaves.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((ends[middle] as number) <= index) low = middle + 1
      else high = middle
    }
    return leaves[low]?.items[index - (low === 0 ? 0 : (ends[low - 1] as number))] as Value
  }

  toArray(): Value[] {
    const leaves = this.levels[0] as readonly Chunk[]
    return leaves.length === 1
      ? [...((leaves[0] as Chunk).items as Value[])]
      : leaves.flatMap(({ items }) => items as readonly Value[])
  }

  indexOf(item: string): number {
    let before = 0
    for (const { items } of this.levels[0] as readonly Chunk[]) {
      const index = items.indexOf(item)
      if (index >= 0) return before + index
      before += items.length
    }
    return -1
  }

  splice(start: number, deleted: number, inserted: readonly Value[]): Sequence {
    const levels: (readonly Chunk[])[] = []
    let change: ChunkChange = rechunk(0, this.levels[0] ?? [], { start, deleted, inserted })
    for (;;) {
      const old = this.levels[levels.length] ?? []
      const level = [...old.slice(0, change.start), ...change.inserted, ...old.slice(change.start + change.deleted)]
      levels.push(level)
      if (level.length <= 1) break
      const above = this.levels[levels.length]
      change = above
        ? rechunk(levels.length, above, change)
        : rechunk(levels.length, [], { start: 0, deleted: 0, inserted: level })
    }
    return levels.at(-1)?.length === 0 ? new Sequence([[new Chunk(0, [])]]) : new Sequence(levels)
  }

  #endsOfLeaves(leaves: readonly Chunk[]): readonly number[] {
    let end = 0
    this.#ends ??= leaves.map(({ items }) => (end += items.length))
    return this.#ends
  }
}

interface ItemChange {
  readonly start: number
  readonly deleted: number
  readonly inserted: readonly (Value | Chunk)[]
}

interface ChunkChange extends ItemChange {
  readonly inserted: readonly Chunk[]
}

function rechunk(level: number, old: readonly Chunk[], { start, deleted, inserted }: ItemChange): ChunkChange {
  // Where a change begins at the end of a chunk, that chunk may now end elsewhere.
  let first = 0
  let offset = start
  for (; first < old.length - 1 && offset > (old[first] as Chunk).items.length; first++)
    offset -= (old[first] as Chunk).items.length
  const fresh = [...(old[first]?.items.slice(0, offset) ?? []), ...inserted]
  let next = 0
  // The first item after the change.
  let chunk = first
  offset += deleted
  while (chunk < old.length && offset >= (old[chunk] as Chunk).items.length) {
    offset -= (old[chunk] as Chunk).items.length
    chunk += 1
  }

  const chunks: Chunk[] = []
  let items: (Value | Chunk)[] = []
  let size = 0
  const close = () => {
    chunks.push(new Chunk(level, items))
    items = []
    size = 0
  }
  for (;;) {
    const isOld = next === fresh.length
    // From here on all chunks are what they were.
    if (isOld && items.length === 0 && offset === 0) break
    if (isOld && chunk === old.length) break
    const item = (isOld ? old[chunk]?.items[offset] : fresh[next]) as Value | Chunk
    const length = item instanceof Chunk ? REFERENCE + 1 : sizeOf(item) + 1
    if (items.length > 0 && size + length > PAGE) {
      close()
      continue
    }
    items.push(item)
    size += length
    if (!isOld) next += 1
    else if (++offset === (old[chunk] as Chunk).items.length) {
      chunk += 1
      offset = 0
    }
    if (size >= LEAST && bitsOf(item) % RARITY === 0) close()
  }
  if (items.length > 0) close()
  return { start: first, deleted: chunk - first, inserted: chunks }
}

function bitsOf(item: Value | Chunk): number {
  if (item instanceof Chunk) return nameBits(item)
  const page = pageOf(item)
  if (page) return nameBits(page)
  return textBits(writeValue(item))
}
