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

export abstract class PageNode {
  /** Whether its page and all pages below it are in the store, where its session reads them. */
  kept = false
  #name: string | null = null
  #text: string | null = null

  /** UTF-8 bytes of the JSON text of what is in it, the pages below it included. */
  abstract readonly bytes: number

  abstract children(): readonly PageNode[]

  protected abstract write(): string

  get text(): string {
    this.#text ??= this.write()
    return this.#text
  }

  /** The text of its page, if it is written and not forgotten; `null` otherwise. */
  protected get written(): string | null {
    return this.#text
  }

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

export class Plain {
  /** Its JSON text: pages are written from the texts of what is in them, which may have many parts. */
  readonly text: string
  readonly bytes: number
  #value: object | null = null

  constructor(text: string) {
    this.text = text
    this.bytes = byteLength(text)
  }

  static of(value: object): Plain {
    const plain = new Plain(JSON.stringify(value))
    plain.#value = freezeAll(value)
    return plain
  }

  /** Frozen at every depth. */
  get value(): object {
    this.#value ??= freezeAll(JSON.parse(this.text)) as object
    return this.#value
  }
}

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

export function pageOf(value: Value): PageNode | null {
  if (typeof value !== 'object' || value === null || value instanceof Plain) return null
  return value instanceof LongText ? value : value.page
}

export function sizeOf(value: Value): number {
  if (typeof value === 'string') return isCopied(value) ? value.length + 2 : JSON.stringify(value).length
  return pageOf(value) ? REFERENCE : writeValue(value).length
}

/** Returns the JSON text of a value without a page of its own. */
export function writeValue(value: Value): string {
  return value instanceof Plain ? value.text : JSON.stringify(value)
}

export function bytesOf(value: Value): number {
  if (typeof value === 'string') return isCopied(value) ? value.length + 2 : byteLength(JSON.stringify(value))
  return typeof value === 'object' && value !== null ? value.bytes : String(value).length
}

/** Returns whether JSON text has all characters of a text as they are, and UTF-8 a byte for each. */
function isCopied(text: string): boolean {
  return text.length < INLINE && /^[ !#-[\]-~]*$/.test(text)
}

/** Returns the texts of values as their page holds them: in place, or 0 with index and name among the references. */
export function writeValues(values: readonly Value[]): string {
  const references: [number, string][] = []
  const texts = values.map((value, index) => {
    const page = pageOf(value)
    if (!page) return writeValue(value)
    references.push([index, page.name])
    return '0'
  })
  return `[${texts.join()}],${JSON.stringify(references)}`
}

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

export function nameBits(page: PageNode): number {
  return Number.parseInt(page.name.slice(0, 8), 16)
}

/** Freezes a plain value at every depth, and returns it. */
export function freezeAll<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    for (const inner of Object.values(Object.freeze(value))) freezeAll(inner)
  return value
}
