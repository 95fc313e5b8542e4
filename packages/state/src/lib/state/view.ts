import { List, type Mapping, plainOf } from './containers.ts'
import { type Container, LongText, Plain, type Value } from './page-node.ts'

export interface Shown {
  readonly container: Container
  readonly views: Views
}

/** A shell in a thread that reads a state takes `Proxy` from programs while one runs. */
const ViewProxy = Proxy

const shown = new WeakMap<object, Shown>()

export function shownBy(value: unknown): Shown | null {
  return shown.get(value as object) ?? null
}

/** Returns the name of a part of a large state by its content, which never changes. `null` for other values. */
export function partName(value: unknown): string | null {
  return shown.get(value as object)?.container.page.name ?? null
}

/** Returns the container that a view of the same session shows; `null` for any other object. */
export function containerOf(object: object, lineage: object): Container | null {
  const found = shown.get(object)
  return found?.views.lineage === lineage ? found.container : null
}

/** Returns the container that a view of any session shows; `null` for any other object. */
export function containerShownBy(object: object): Container | null {
  return shown.get(object)?.container ?? null
}

/** Whether two parts of states have the same JSON text; by the names of pages, where there are some. */
export function isSamePart(a: unknown, b: unknown): boolean {
  if (a === b) return true
  const [one, other] = [a, b].map((part) => shown.get(part as object)?.container.page)
  return one && other ? one.name === other.name : JSON.stringify(a) === JSON.stringify(b)
}

/**
 * Read-only views of the containers of one session: they read like plain objects and arrays, and throw for a write.
 * Each has a `toJSON`, so that `JSON.stringify` writes plain values, in a fraction of the time that proxies take.
 */
export class Views {
  /** Stands for the session whose pages the containers are. */
  readonly lineage: object
  readonly #views = new WeakMap<Container, object>()

  constructor(lineage: object) {
    this.lineage = lineage
  }

  of(value: Value): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Plain || value instanceof LongText) return value.value
    const known = this.#views.get(value)
    if (known) return known
    const view =
      value instanceof List
        ? new ViewProxy([], new ListView(value, this))
        : new ViewProxy({}, new MappingView(value as Mapping, this))
    this.#views.set(value, view)
    shown.set(view, { container: value, views: this })
    return view
  }
}

/** What no part of a large state does: it would need more than a proxy can say. */
export abstract class Unalterable implements ProxyHandler<object> {
  setPrototypeOf(): never {
    throw unsupported('Another prototype')
  }

  preventExtensions(): never {
    throw unsupported('Object.freeze, Object.seal and Object.preventExtensions')
  }
}

/** Returns the error for what rules cannot do to a part of a large state, as they could to a plain object. */
export function unsupported(what: string): TypeError {
  return new TypeError(`${what}: not possible for a part of a large state. Take a copy of it, by structuredClone.`)
}

/** What both kinds of views refuse. */
abstract class ReadOnly extends Unalterable {
  set(_: object, key: string | symbol): never {
    throw readOnly(key)
  }

  deleteProperty(_: object, key: string | symbol): never {
    throw readOnly(key)
  }

  defineProperty(_: object, key: string | symbol): never {
    throw readOnly(key)
  }
}

function readOnly(key: string | symbol): TypeError {
  return new TypeError(`The state is read-only here, and ${String(key)} of it was to be changed. Change it in a tool.`)
}

class MappingView extends ReadOnly {
  readonly #mapping: Mapping
  readonly #views: Views

  constructor(mapping: Mapping, views: Views) {
    super()
    this.#mapping = mapping
    this.#views = views
  }

  get(target: object, key: string | symbol, receiver: unknown): unknown {
    const value = typeof key === 'string' ? this.#mapping.at(key) : undefined
    if (value !== undefined) return this.#views.of(value)
    return key === 'toJSON' ? () => plainOf(this.#mapping) : Reflect.get(target, key, receiver)
  }

  has(target: object, key: string | symbol): boolean {
    return (typeof key === 'string' && this.#mapping.at(key) !== undefined) || Reflect.has(target, key)
  }

  ownKeys(): string[] {
    return [...this.#mapping.keys()]
  }

  getOwnPropertyDescriptor(_: object, key: string | symbol): PropertyDescriptor | undefined {
    const value = typeof key === 'string' ? this.#mapping.at(key) : undefined
    return value === undefined ? undefined : lazyProperty(value, () => this.#views.of(value))
  }
}

class ListView extends ReadOnly {
  readonly #list: List
  readonly #views: Views

  constructor(list: List, views: Views) {
    super()
    this.#list = list
    this.#views = views
  }

  get(target: object, key: string | symbol, receiver: unknown): unknown {
    if (key === 'length') return this.#list.items.count
    const index = indexOf(key, this.#list.items.count)
    if (index >= 0) return this.#views.of(this.#list.items.at(index))
    return key === 'toJSON' ? () => plainOf(this.#list) : Reflect.get(target, key, receiver)
  }

  has(target: object, key: string | symbol): boolean {
    return indexOf(key, this.#list.items.count) >= 0 || Reflect.has(target, key)
  }

  ownKeys(): string[] {
    return arrayKeys(this.#list.items.count)
  }

  getOwnPropertyDescriptor(_: object, key: string | symbol): PropertyDescriptor | undefined {
    const { count } = this.#list.items
    if (key === 'length') return lengthProperty(count)
    const index = indexOf(key, count)
    if (index < 0) return undefined
    const value = this.#list.items.at(index)
    return lazyProperty(value, () => this.#views.of(value))
  }
}

export function indexOf(key: string | symbol, count: number): number {
  if (typeof key !== 'string') return -1
  const index = Number(key)
  return index >= 0 && index < count && Number.isInteger(index) && String(index) === key ? index : -1
}

export function arrayKeys(count: number): string[] {
  const keys: string[] = []
  for (let i = 0; i < count; i++) keys.push(String(i))
  keys.push('length')
  return keys
}

export function lengthProperty(count: number): PropertyDescriptor {
  return { value: count, writable: true, enumerable: false, configurable: false }
}

/** Returns a property of a view, made when it is read: `Object.keys` and spreads ask for one of every key. */
export function lazyProperty(value: unknown, get: () => unknown): PropertyDescriptor {
  return typeof value === 'object' && value !== null
    ? { get, enumerable: true, configurable: true }
    : { value, writable: true, enumerable: true, configurable: true }
}
