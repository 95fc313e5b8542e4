import { contentId } from '@episodic/protocol'
import { storeInvalid } from '../state-error.ts'
import { Fields, List, Table } from './containers.ts'
import { Branch, Bucket, entryBytes, entrySize, type HashTree } from './hash-tree.ts'
import { LongText, type PageNode, Plain, type Value } from './page-node.ts'
import { Chunk, Sequence } from './sequence.ts'

/** Resolves with the texts of pages by their names, `null` for a missing one, in the order of the names. */
export type ReadPages = (names: readonly string[]) => Promise<readonly (string | null)[]>

type Page =
  | readonly ['object' | 'bucket', keys: string[], values: unknown[], references: References]
  | readonly ['array', values: unknown[], references: References]
  | readonly ['list', names: string[]]
  | readonly ['branch', names: (string | 0)[]]
  | readonly ['table', order: string, tree: string]
  | readonly ['text', text: string]

type References = readonly (readonly [index: number, name: string])[]

/** Nodes of this process by their names, as long as a session holds them: sessions that share pages share these. */
const nodes = new Map<string, WeakRef<PageNode>>()
const forgotten = new FinalizationRegistry<string>((name) => {
  if (!nodes.get(name)?.deref()) nodes.delete(name)
})

/** Has states that are read find a page, so that it need not be read again, as long as it is held. */
function findByName(node: PageNode): void {
  nodes.set(node.name, new WeakRef(node))
  forgotten.register(node, node.name)
}

/**
 * Reads a value of the tree and all pages below it that this process does not hold. `near` is a page of a value that
 * shares pages with it, so that only what differs is read. Throws `store-invalid` for a missing page, and for one whose
 * text does not have its name.
 */
export async function readTree(name: string, read: ReadPages, near: PageNode | null = null): Promise<Value> {
  const pages = new Map<string, Page>()
  // A held node may go while the others are read.
  const held = new Map<string, PageNode>()
  const shared = new Map<string, PageNode>()
  let level = near ? [near] : []
  for (let names = [name]; names.length > 0; ) {
    for (const node of level) shared.set(node.name, node)
    const missing: string[] = []
    for (const each of names) {
      const node = nodes.get(each)?.deref() ?? shared.get(each)
      if (node) held.set(each, node)
      else missing.push(each)
    }
    const texts = missing.length > 0 ? await read(missing) : []
    const next = new Set<string>()
    for (const [index, each] of missing.entries()) {
      const page = parsePage(each, texts[index] ?? null)
      pages.set(each, page)
      for (const child of namesIn(page)) if (!pages.has(child) && !held.has(child)) next.add(child)
    }
    // What both values have needs no closer search.
    level = level.filter((node) => !held.has(node.name)).flatMap((node) => node.children())
    names = [...next]
  }
  return asValue(nodeOf(name))

  function nodeOf(each: string): PageNode {
    const known = held.get(each)
    if (known) return known
    const node = build(pages.get(each) as Page)
    held.set(each, node)
    node.keep(each)
    findByName(node)
    return node
  }

  function build(page: Page): PageNode {
    switch (page[0]) {
      case 'object':
        return new Fields(page[1], valuesOf(page[2], page[3]))
      case 'bucket':
        return bucketOf(page[1], valuesOf(page[2], page[3]))
      case 'array':
        return new Chunk(0, valuesOf(page[1], page[2]))
      case 'list': {
        const chunks = page[1].map((each) => nodeOf(each) as Chunk)
        return new Chunk((chunks[0]?.level ?? 0) + 1, chunks)
      }
      case 'branch':
        return new Branch(page[1].map((each) => (each === 0 ? undefined : (nodeOf(each) as HashTree))))
      case 'table':
        return new Table(Sequence.below(nodeOf(page[1]) as Chunk), nodeOf(page[2]) as HashTree)
      case 'text':
        return new LongText(page[1])
    }
  }

  function valuesOf(written: readonly unknown[], references: References): Value[] {
    // Most of what is read from a store is never looked at: it stays a text.
    const values = written.map((value) =>
      typeof value === 'object' && value !== null ? new Plain(JSON.stringify(value)) : (value as Value),
    )
    for (const [index, each] of references) values[index] = asValue(nodeOf(each))
    return values
  }
}

function asValue(node: PageNode): Value {
  return node instanceof Chunk ? new List(Sequence.below(node)) : (node as LongText | Fields | Table)
}

function bucketOf(keys: readonly string[], values: readonly Value[]): Bucket {
  const sum = (measure: typeof entrySize) =>
    keys.reduce((total, key, index) => total + measure(key, values[index] as Value), 0)
  return new Bucket(keys, values, sum(entrySize), sum(entryBytes))
}

function namesIn(page: Page): readonly string[] {
  switch (page[0]) {
    case 'object':
    case 'bucket':
      return page[3].map(([, name]) => name)
    case 'array':
      return page[2].map(([, name]) => name)
    case 'list':
      return page[1]
    case 'branch':
      return page[1].filter((name) => name !== 0)
    case 'table':
      return [page[1], page[2]]
    case 'text':
      return []
  }
}

/** The name is a digest of the text, so a text that has it was written by {@link PageNode}. */
function parsePage(name: string, text: string | null): Page {
  if (text !== null && contentId(text) === name) return JSON.parse(text)
  throw storeInvalid(
    `The store ${text === null ? 'lacks' : 'has another text for'} page ${name} of a state. Restore the store from a copy, or start a new session.`,
  )
}
