import { PythonError } from '../python/error.ts'

/** A value while Python runs: a {@link PythonValue}, an object of a class, a class, or what can be called. */
export type Value = unknown

export type Callable = (positional: readonly Value[], named: Readonly<Record<string, Value>>) => Value

/** A class: of a source, or of the library. */
export class PythonClass {
  readonly name: string
  readonly bases: readonly PythonClass[]
  readonly members: Map<string, Value>
  /** Makes an object. Default: one without fields, which `__init__` fills. */
  readonly make: Callable

  constructor(name: string, bases: readonly PythonClass[], members: Map<string, Value> = new Map(), make?: Callable) {
    this.name = name
    this.bases = bases
    this.members = members
    this.make =
      make ??
      ((positional, named) => {
        const made = new Instance(this, {})
        const init = this.find('__init__') as Callable | undefined
        init?.([made, ...positional], named)
        return made
      })
  }

  /** Finds a member of the class or of what it extends. */
  find(name: string): Value | undefined {
    const own = this.members.get(name)
    if (own !== undefined) return own
    for (const base of this.bases) {
      const found = base.find(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  extends(other: PythonClass): boolean {
    return this === other || this.bases.some((base) => base.extends(other))
  }
}

/** An object of a class, over fields that may be a part of a state. */
export class Instance {
  readonly type: PythonClass
  readonly fields: Record<string, Value>

  constructor(type: PythonClass, fields: Record<string, Value>) {
    this.type = type
    this.fields = fields
  }
}

/** Returns an object of the library, such as a module, by what it has. */
export function namespace(name: string, fields: Record<string, Value>): Instance {
  return new Instance(new PythonClass(name, []), fields)
}

/** Names that code sees: its own, and those around it. */
export class Scope {
  readonly names: Map<string, Value>
  readonly around: Scope | null
  /** Functions of a class do not see its names. */
  readonly isClass: boolean

  constructor(around: Scope | null, names: Iterable<readonly [string, Value]> = [], isClass = false) {
    this.names = new Map(names)
    this.around = around
    this.isClass = isClass
  }

  get(name: string): Value {
    for (let scope: Scope | null = this; scope; scope = scope.around) {
      const found = scope.names.get(name)
      if (found !== undefined) return found
    }
    throw new PythonError('NameError', `name '${name}' is not defined`)
  }
}

/** Returns the name of a value's type. */
export function typeName(value: Value): string {
  if (value === null) return 'NoneType'
  if (typeof value === 'string') return 'str'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  if (Array.isArray(value)) return 'list'
  if (value instanceof Instance) return value.type.name
  if (value instanceof PythonError) return value.type
  if (typeof value === 'function') return 'function'
  if (value instanceof PythonClass) return 'type'
  if (Symbol.iterator in (value as object)) return 'generator'
  const [tag = ''] = Object.keys(value as object)
  return TAGS[tag] ?? 'dict'
}

const TAGS: Readonly<Record<string, string>> = {
  ...{ $float: 'float', $int: 'int', $tuple: 'tuple', $set: 'set', $dict: 'dict', $time: 'datetime' },
  ...{ $random: 'Random', $repr: 'object' },
}

export function isDict(value: Value): value is object {
  return typeof value === 'object' && value !== null && typeName(value) === 'dict'
}

/** Returns a copy of a value with all that is in it. */
export function deepCopy<T extends Value>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof PythonClass) return value
  if (Array.isArray(value)) return value.map(deepCopy) as T
  if (value instanceof Instance) return new Instance(value.type, deepCopy(value.fields)) as T
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, deepCopy(part)])) as T
}
