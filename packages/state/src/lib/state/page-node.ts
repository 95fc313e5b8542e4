import { contentId } from '@episodic/protocol'
import { byteLength } from './state-text.ts'

// A large state in memory: an immutable tree, whose nodes are kept as pages. Shape and texts of the tree depend on the
// value alone, so equal values have equal names.

/** Characters of JSON text that a page has at most, unless one entry alone is longer. */
export const PAGE = 4_096

/** Characters of JSON text up to which a text, or an object or array without pages, stays in the page of its parent. */
export const INLINE = 512

/** Characters with which a page stands in the page of its parent. */
export const REFERENCE = 34

/** A node of the tree that is kept as a page of its own. */
export abstract class PageNode {
  /** Whether its page and all pages below it are in the store, where its session reads them. */
  kept = false
  #name: string | null = null
  #text: string | null = null

  /** UTF-8 bytes of the JSON text of what is in it, the pages below it included. */
  abstract readonly bytes: number

  /** The pages that stand in its page. */
  abstract children(): readonly PageNode[]

  /** Writes the text of its page. */
  protected abstract write(): string

  /** The text of its page, in which other pages stand by their names. */
  get text(): string {
    this.#text ??= this.write()
    return this.#text
  }

  /** The content id of its text. */
  get name(): string {
    this.#name ??= contentId(this.text)
    return this.#name
  }

  /** Marks it as stored, and forgets its text, which the store has. */
  keep(name = this.name): void {
    this.kept = true
    this.#name = name
    this.#text = null
  }
}

/** An object or array that stays in the page of its parent. */
export class Plain {
  /** Frozen at every depth. */
  readonly value: object
  /** Characters of its JSON text. */
  readonly size: number
  /** UTF-8 bytes of its JSON text. */
  readonly bytes: number

  constructor(value: object, text = JSON.stringify(value)) {
    this.value = freezeAll(value)
    this.size = text.length
    this.bytes = byteLength(text)
  }
}

/** A text that is a page. */
export class LongText extends PageNode {
  readonly value: string
  readonly bytes: number

  constructor(value: string) {
    super()
    this.value = value
    this.bytes = byteLength(JSON.stringify(value))
  }

  children(): readonly PageNode[] {
    return []
  }

  protected write(): string {
    return JSON.stringify(['text', this.value])
  }
}

/** An object or array of the tree that has at least a page of its own. */
export interface Container {
  readonly bytes: number
  /** The page by which it stands in that of its parent. */
  readonly page: PageNode
}

type Bare = null | boolean | number | string

/** An immutable value of the tree. */
export type Value = Bare | Plain | LongText | Container

/** Returns the page of a value that has one of its own; `null` for any other. */
export function pageOf(value: Value): PageNode | null {
  if (typeof value !== 'object' || value === null || value instanceof Plain) return null
  return value instanceof LongText ? value : value.page
}

/** Returns the characters of a value within the page of its parent. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return JSON.stringify(value).length
  if (typeof value !== 'object' || value === null) return String(value).length
  return value instanceof Plain ? value.size : REFERENCE
}

/** Returns the UTF-8 bytes of the JSON text of a value. */
export function bytesOf(value: Value): number {
  if (typeof value === 'string') return byteLength(JSON.stringify(value))
  return typeof value === 'object' && value !== null ? value.bytes : String(value).length
}

/** Values as a page holds them: in place, or 0 with its index and name among the references. */
export interface PageValues {
  readonly values: readonly unknown[]
  readonly references: readonly (readonly [index: number, name: string])[]
}

/** Returns values as their page holds them. */
export function writeValues(values: readonly Value[]): PageValues {
  const references: [number, string][] = []
  const written = values.map((value, index) => {
    const page = pageOf(value)
    if (page) references.push([index, page.name])
    return page ? 0 : value instanceof Plain ? value.value : value
  })
  return { values: written, references }
}

/** Returns the pages among values. */
export function pagesIn(values: readonly Value[]): PageNode[] {
  return values.map(pageOf).filter((page) => page !== null)
}

/** Returns 32 bits that depend on every character of a text. Not for secrets: 32-bit FNV-1a over UTF-16 code units. */
export function textBits(text: string): number {
  let bits = 0x811c9dc5
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193)
  // The low bits decide first, and a plain FNV-1a mixes them least.
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  return (bits ^ (bits >>> 13)) >>> 0
}

/** Returns the first 32 bits of a page's name. */
export function nameBits(page: PageNode): number {
  return Number.parseInt(page.name.slice(0, 8), 16)
}

function freezeAll<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    for (const inner of Object.values(Object.freeze(value))) freezeAll(inner)
  return value
}
