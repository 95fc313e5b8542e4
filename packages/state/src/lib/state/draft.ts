import { arrayOf, Fields, List, type Mapping, objectOf, plainOf, Table } from './containers.ts'
import { LongText, Plain, type Value } from './page-node.ts'
import { assertKey, treeOf } from './tree-of.ts'
import { arrayKeys, containerOf, indexOf, lazyProperty, lengthProperty, Unalterable, unsupported } from './view.ts'

type Base = Value | object

interface Part {
  /** Returns the value as the rules have left it: the very base if nothing in it has changed. */
  finish(path: string): Base
  /** Whether nothing in it was changed. May deny it of what was. */
  readonly isUnchanged: boolean
}

/** A copy of a state for rules to change, like plain objects; nothing is copied before it is changed. */
export class Draft {
  readonly root: object
  readonly #lineage: object
  readonly #parts = new WeakMap<object, Part>()
  /** What objects have become, as far as they were read to finish the draft: one may be in several places. */
  #read = new Map<object, Value>()
  #finished = new Map<Part, Base | typeof UNFINISHED>()

  /** `lineage` stands for the session whose pages the value's are: a part of another session's state is copied. */
  constructor(base: Value, lineage: object) {
    this.#lineage = lineage
    this.root = this.open(base) as object
  }

  /** Returns the value as the rules have left it. Throws `not-json`, and a `RangeError` for what contains itself. */
  finish(path: string): Value {
    this.#read = new Map()
    this.#finished = new Map()
    return this.read(this.root, path)
  }

  open(base: Base): unknown {
    if (typeof base !== 'object' || base === null) return base
    if (base instanceof LongText) return base.value
    const inner = base instanceof Plain ? base.value : base
    const isArray = inner instanceof List || Array.isArray(inner)
    const part = isArray
      ? new ArrayPart(this, base, inner)
      : new ObjectPart(this, base, isContainer(inner) ? (inner as Mapping) : new PlainEntries(inner))
    const proxy = new Proxy<object>(isArray ? [] : {}, part)
    this.#parts.set(proxy, part)
    return proxy
  }

  read(left: unknown, path: string): Value {
    const known = (object: object, at: string) => {
      const part = this.#parts.get(object)
      return part ? asValue(this.#finish(part, at)) : (containerOf(object, this.#lineage) as Value | null)
    }
    return treeOf(left, path, known, this.#read)
  }

  /** Returns what rules have left in the place of a base as a value; `undefined` if it is what it was. */
  changed(left: unknown, base: Base, path: string): Value | undefined {
    const part = this.#parts.get(left as object)
    const finished = part ? this.#finish(part, path) : this.read(left, path)
    return finished === base ? undefined : asValue(finished)
  }

  isUnchanged(part: object): boolean {
    return this.#parts.get(part)?.isUnchanged ?? false
  }

  #finish(part: Part, path: string): Base {
    const known = this.#finished.get(part)
    if (known === UNFINISHED) throw new RangeError(`${path} contains itself.`)
    if (known !== undefined) return known
    this.#finished.set(part, UNFINISHED)
    const finished = part.finish(path)
    this.#finished.set(part, finished)
    return finished
  }
}

const UNFINISHED = Symbol('unfinished')

function asValue(base: Base): Value {
  return isValue(base) ? base : Plain.of(base as object)
}

function isValue(base: unknown): base is Value {
  return (
    typeof base !== 'object' || base === null || base instanceof Plain || base instanceof LongText || isContainer(base)
  )
}

function isContainer(base: object): base is Mapping | List {
  return base instanceof Fields || base instanceof Table || base instanceof List
}

interface ObjectChanges {
  readonly removed: Set<string>
  readonly set: Map<string, unknown>
  /** Values of other keys, and of keys that were removed before: they come last. */
  readonly added: Map<string, unknown>
}

class ObjectPart extends Unalterable implements Part {
  readonly #draft: Draft
  readonly #base: Base
  readonly #inner: Mapping | PlainEntries
  /** The parts of entries that were read; `null` for none, as of nearly every row that is read in a search. */
  #parts: Map<string, object> | null = null
  #changes: ObjectChanges | null = null

  constructor(draft: Draft, base: Base, inner: Mapping | PlainEntries) {
    super()
    this.#draft = draft
    this.#base = base
    this.#inner = inner
  }

  get(target: object, key: string | symbol, receiver: unknown): unknown {
    const left = typeof key === 'string' ? this.#left(key) : ABSENT
    if (left === ABSENT)
      // What is unchanged is written as plain values, as a view is.
      return key === 'toJSON' && this.isUnchanged ? () => plainOf(this.#base) : Reflect.get(target, key, receiver)
    return typeof left === 'object' && left !== null && this.#isBase(key as string)
      ? this.#open(key as string, left)
      : left
  }

  has(target: object, key: string | symbol): boolean {
    return (typeof key === 'string' && this.#left(key) !== ABSENT) || Reflect.has(target, key)
  }

  set(target: object, key: string | symbol, value: unknown, receiver: unknown): boolean {
    // JSON leaves out what is kept under a symbol, and to set `__proto__` is to set no entry.
    if (typeof key !== 'string') return Reflect.set(target, key, value)
    if (key === '__proto__' && this.#left(key) === ABSENT) return Reflect.set(target, key, value, receiver)
    return this.#put(key, value)
  }

  deleteProperty(_: object, key: string | symbol): boolean {
    if (typeof key !== 'string' || this.#left(key) === ABSENT) return true
    const { removed, set, added } = this.#changed()
    added.delete(key)
    set.delete(key)
    if (this.#inner.at(key) !== undefined) removed.add(key)
    return true
  }

  defineProperty(_: object, key: string | symbol, property: PropertyDescriptor): boolean {
    const { value, writable, enumerable, configurable } = property
    if (typeof key === 'string' && writable && enumerable && configurable) return this.#put(key, value)
    throw unsupported('A getter, a setter, and a property that is hidden or fixed')
  }

  ownKeys(): string[] {
    const keys = this.#inner.keys()
    if (!this.#changes) return [...keys]
    const { removed, added } = this.#changes
    const kept = removed.size === 0 ? [...keys] : keys.filter((key) => !removed.has(key))
    if (added.size === 0) return kept
    // An object puts keys that are whole numbers first.
    return Object.keys(Object.fromEntries([...kept, ...added.keys()].map((key) => [key, null])))
  }

  getOwnPropertyDescriptor(target: object, key: string | symbol): PropertyDescriptor | undefined {
    const left = typeof key === 'string' ? this.#left(key) : ABSENT
    return left === ABSENT ? undefined : lazyProperty(left, () => this.get(target, key, target))
  }

  finish(path: string): Base {
    if (!this.#parts && !this.#changes) return this.#base
    const set = new Map<string, Value>()
    for (const [key, part] of this.#parts ?? NOTHING) {
      if (!this.#isBase(key)) continue
      const changed = this.#draft.changed(part, this.#inner.at(key) as Base, `${path}.${key}`)
      if (changed !== undefined) set.set(key, changed)
    }
    const { removed, set: left, added } = this.#changes ?? NO_CHANGES
    for (const [key, value] of left) set.set(key, this.#draft.read(value, `${path}.${key}`))
    for (const [key, value] of added) {
      assertKey(key, path)
      set.set(key, this.#draft.read(value, `${path}.${key}`))
    }
    if (set.size === 0 && removed.size === 0) return this.#base
    if (!(this.#inner instanceof PlainEntries)) return this.#inner.with({ removed, set })
    const keys = this.ownKeys()
    return objectOf(
      keys,
      keys.map((key) => (set.has(key) ? (set.get(key) as Value) : asValue(this.#inner.at(key) as Base))),
    )
  }

  get isUnchanged(): boolean {
    if (this.#changes) return false
    for (const part of this.#parts?.values() ?? NOTHING) if (!this.#draft.isUnchanged(part)) return false
    return true
  }

  #left(key: string): unknown {
    if (this.#changes) {
      const { removed, set, added } = this.#changes
      if (added.has(key)) return added.get(key)
      if (set.has(key)) return set.get(key)
      if (removed.has(key)) return ABSENT
    }
    const base = this.#inner.at(key)
    return base === undefined ? ABSENT : base
  }

  #isBase(key: string): boolean {
    if (!this.#changes) return true
    const { removed, set, added } = this.#changes
    return !removed.has(key) && !set.has(key) && !added.has(key)
  }

  #open(key: string, base: Base): unknown {
    const known = this.#parts?.get(key)
    if (known) return known
    const part = this.#draft.open(base)
    if (typeof part === 'object' && part !== null) {
      this.#parts ??= new Map()
      this.#parts.set(key, part)
    }
    return part
  }

  #put(key: string, value: unknown): true {
    const { removed, set, added } = this.#changed()
    if (this.#inner.at(key) === undefined || removed.has(key)) added.set(key, value)
    else set.set(key, value)
    return true
  }

  #changed(): ObjectChanges {
    this.#changes ??= { removed: new Set(), set: new Map(), added: new Map() }
    return this.#changes
  }
}

/** For no entry. An entry may be `undefined` until the draft is finished. */
const ABSENT = Symbol('absent')

const NOTHING: readonly never[] = []
const NO_CHANGES: ObjectChanges = { removed: new Set(), set: new Map(), added: new Map() }

/** The entries of an object within a plain value, or of one. */
class PlainEntries {
  readonly #object: { readonly [key: string]: Base }

  constructor(object: object) {
    this.#object = object as { readonly [key: string]: Base }
  }

  keys(): string[] {
    return Object.keys(this.#object)
  }

  at(key: string): Base | undefined {
    return Object.hasOwn(this.#object, key) ? this.#object[key] : undefined
  }
}

class ArrayPart extends Unalterable implements Part {
  readonly #draft: Draft
  readonly #base: Base
  readonly #inner: List | readonly Base[]
  /** The parts of items that were read, and what rules have set in the place of others, before there is a copy. */
  readonly #left = new Map<number, unknown>()
  /** What rules have added at the end, before there is a copy. */
  readonly #added: unknown[] = []
  /** All items once rules do more with them: values of the tree, parts, and what rules have set. */
  #copy: unknown[] | null = null

  constructor(draft: Draft, base: Base, inner: List | readonly Base[]) {
    super()
    this.#draft = draft
    this.#base = base
    this.#inner = inner
  }

  get(target: object, key: string | symbol, receiver: unknown): unknown {
    if (key === 'length') return this.#count
    const index = indexOf(key, this.#count)
    if (index >= 0) return this.#item(index)
    // A copy may have holes and other keys.
    if (this.#copy && Object.hasOwn(this.#copy, key)) return Reflect.get(this.#copy, key)
    return key === 'toJSON' && this.isUnchanged ? () => plainOf(this.#base) : Reflect.get(target, key, receiver)
  }

  has(target: object, key: string | symbol): boolean {
    if (this.#copy) return Reflect.has(this.#copy, key)
    return indexOf(key, this.#count) >= 0 || Reflect.has(target, key)
  }

  set(_: object, key: string | symbol, value: unknown): boolean {
    return (!this.#copy && this.#put(key, value)) || Reflect.set(this.#copied(), key, value)
  }

  deleteProperty(_: object, key: string | symbol): boolean {
    return Reflect.deleteProperty(this.#copied(), key)
  }

  defineProperty(_: object, key: string | symbol, property: PropertyDescriptor): boolean {
    return Reflect.defineProperty(this.#copied(), key, property)
  }

  ownKeys(): (string | symbol)[] {
    return this.#copy ? Reflect.ownKeys(this.#copy) : arrayKeys(this.#count)
  }

  getOwnPropertyDescriptor(_: object, key: string | symbol): PropertyDescriptor | undefined {
    if (key === 'length') return lengthProperty(this.#count)
    const index = indexOf(key, this.#count)
    if (index < 0 || (this.#copy && !Object.hasOwn(this.#copy, index)))
      return this.#copy ? Reflect.getOwnPropertyDescriptor(this.#copy, key) : undefined
    return lazyProperty(this.#copy ? this.#copy[index] : this.#now(index), () => this.#item(index))
  }

  finish(path: string): Base {
    return this.#copy ? this.#finishedCopy(this.#copy, path) : this.#finishedItems(path)
  }

  get isUnchanged(): boolean {
    return !this.#copy && this.#left.size === 0 && this.#added.length === 0
  }

  #finishedItems(path: string): Base {
    const set = new Map<number, Value>()
    for (const [index, left] of this.#left) {
      const changed = this.#draft.changed(left, this.#at(index), `${path}[${index}]`)
      if (changed !== undefined) set.set(index, changed)
    }
    const first = this.#baseCount
    const added = this.#added.map((item, index) => this.#draft.read(item, `${path}[${first + index}]`))
    if (set.size === 0 && added.length === 0) return this.#base
    const isFew = this.#inner instanceof List && set.size <= MANY
    let list: Base = isFew && added.length > 0 ? (this.#inner as List).with(first, 0, added) : this.#inner
    for (const [index, value] of isFew ? set : NOTHING) if (list instanceof List) list = list.with(index, 1, [value])
    // With small items in the place of large ones, a list may become a plain array.
    if (isFew && list instanceof List) return list
    const items = this.#baseItems.map((item, index) => (set.has(index) ? (set.get(index) as Value) : asValue(item)))
    return this.#changed([...items, ...added])
  }

  #finishedCopy(copy: unknown[], path: string): Base {
    const items: Value[] = []
    for (let i = 0; i < copy.length; i++) {
      const item = copy[i]
      items.push(isHeld(item) ? item : this.#draft.read(item, `${path}[${i}]`))
    }
    return this.#changed(items)
  }

  /** Returns the array with these items: of a list, those between the first and the last that are others are new. */
  #changed(items: readonly Value[]): Base {
    if (!(this.#inner instanceof List)) return arrayOf(items)
    const old = this.#inner.items.toArray()
    const least = Math.min(old.length, items.length)
    let same = 0
    while (same < least && old[same] === items[same]) same += 1
    let sameAtEnd = 0
    while (sameAtEnd < least - same && old[old.length - 1 - sameAtEnd] === items[items.length - 1 - sameAtEnd])
      sameAtEnd += 1
    if (same === old.length && same === items.length) return this.#base
    return this.#inner.with(same, old.length - same - sameAtEnd, items.slice(same, items.length - sameAtEnd))
  }

  get #count(): number {
    return this.#copy ? this.#copy.length : this.#baseCount + this.#added.length
  }

  get #baseCount(): number {
    return this.#inner instanceof List ? this.#inner.items.count : this.#inner.length
  }

  get #baseItems(): readonly Base[] {
    return this.#inner instanceof List ? this.#inner.items.toArray() : this.#inner
  }

  #at(index: number): Base {
    return this.#inner instanceof List ? this.#inner.items.at(index) : (this.#inner[index] as Base)
  }

  #now(index: number): unknown {
    const first = this.#baseCount
    if (index >= first) return this.#added[index - first]
    return this.#left.has(index) ? this.#left.get(index) : this.#at(index)
  }

  /** Sets or adds an item without a copy. Returns whether that is what was to be set. */
  #put(key: string | symbol, value: unknown): boolean {
    if (key === 'length') return value === this.#count
    const index = indexOf(key, this.#count + 1)
    const first = this.#baseCount
    if (index >= first) this.#added[index - first] = value
    else if (index >= 0) this.#left.set(index, value)
    return index >= 0
  }

  #item(index: number): unknown {
    if (!this.#copy) {
      if (this.#left.has(index) || index >= this.#baseCount) return this.#now(index)
      const part = this.#draft.open(this.#at(index))
      if (typeof part === 'object' && part !== null) this.#left.set(index, part)
      return part
    }
    const item = this.#copy[index]
    if (!isHeld(item)) return item
    const part = this.#draft.open(item)
    // A text stays the page that it is.
    if (typeof part === 'object' && part !== null) this.#copy[index] = part
    return part
  }

  #copied(): unknown[] {
    if (this.#copy) return this.#copy
    const items = this.#baseItems.map((item, index) => (this.#left.has(index) ? this.#left.get(index) : asValue(item)))
    this.#copy = [...items, ...this.#added]
    return this.#copy
  }
}

/** Items set one by one, with a look through the chunks for each; of more, the array is compared with what it was. */
const MANY = 64

/** Returns whether an item of a copy is still the value of the tree that it was. */
function isHeld(item: unknown): item is Exclude<Value, null | boolean | number | string> {
  return typeof item === 'object' && item !== null && isValue(item)
}
