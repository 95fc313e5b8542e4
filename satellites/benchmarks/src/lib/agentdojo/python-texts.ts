/** What a constant of Python is here. */
export type Constant = string | number | readonly Constant[]

/** Constants of a module, and of each class by its name. */
export interface PythonTexts {
  readonly module: ReadonlyMap<string, Constant>
  readonly classes: ReadonlyMap<string, ReadonlyMap<string, Constant>>
}

/**
 * Reads the constants of a module and of its classes from Python's source: texts (also with `f`, `+` and `join`),
 * numbers and lists. One that is made in another way is left out, and so is one within a function.
 */
export function readPythonTexts(source: string, known: ReadonlyMap<string, Constant> = new Map()): PythonTexts {
  const module = new Map(known)
  const classes = new Map<string, ReadonlyMap<string, Constant>>()
  const heads = /^(?:class (\w+)\b.*:|( {4})?([A-Za-z_]\w*)(?:: [^=\n]+)? = )/gm
  let own: Map<string, Constant> | null = null
  for (let head = heads.exec(source); head; head = heads.exec(source)) {
    const [, name, inner, constant] = head
    if (name !== undefined) {
      own = new Map()
      classes.set(name, own)
    } else if (constant !== undefined && !(inner && !own)) {
      const names = inner ? new Map([...module, ...(own as Map<string, Constant>)]) : module
      const reader = new Reader(source, heads.lastIndex, names)
      const value = reader.sum()
      if (value !== undefined && reader.isAtEnd()) {
        ;(inner ? (own as Map<string, Constant>) : module).set(constant, value)
        heads.lastIndex = reader.at
      }
      if (!inner) own = null
    } else own = null
  }
  return { module, classes }
}

const SPACE = /(?:\s|#[^\n]*|\\\n)*/y
const TEXT = /([rfuRFU]{0,2})("""|'''|"|')/y
const NAME = /[A-Za-z_]\w*/y
const NUMBER = /-?\d+(?:\.\d*)?/y

class Reader {
  readonly #source: string
  readonly #names: ReadonlyMap<string, Constant>
  #depth = 0
  at: number

  constructor(source: string, at: number, names: ReadonlyMap<string, Constant>) {
    this.#source = source
    this.at = at
    this.#names = names
  }

  isAtEnd(): boolean {
    return /^[ \t]*(#[^\n]*)?(\n|$)/.test(this.#source.slice(this.at))
  }

  sum(): Constant | undefined {
    let left = this.#product()
    while (left !== undefined && this.#take('+')) left = added(left, this.#product())
    return left
  }

  #product(): Constant | undefined {
    let left = this.#part()
    while (typeof left === 'number' && this.#take('*')) {
      const right: Constant | undefined = this.#part()
      left = typeof right === 'number' ? left * right : undefined
    }
    return left
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    // Outside of brackets a value ends with its line.
    const space = this.#depth > 0 ? SPACE : /[ \t]*(?:\\\n[ \t]*)*/y
    space.lastIndex = this.at
    const from = this.at + (space.exec(this.#source)?.[0].length ?? 0)
    pattern.lastIndex = from
    const found = pattern.exec(this.#source)
    if (found) this.at = from + found[0].length
    return found
  }

  #take(sign: string): boolean {
    return this.#match(new RegExp(`\\${sign}`, 'y')) !== null
  }

  #part(): Constant | undefined {
    const value = this.#atom()
    if (value === undefined) return undefined
    if (Array.isArray(value) && this.#take('[')) {
      const [index] = this.#match(NUMBER) ?? []
      return this.#take(']') && index !== undefined ? value.at(Number(index)) : undefined
    }
    if (typeof value === 'string' && this.#take('.')) {
      const isJoin = this.#match(/join\(/y) !== null
      const items = isJoin ? this.sum() : undefined
      return Array.isArray(items) && this.#take(')') ? items.join(value) : undefined
    }
    return value
  }

  #atom(): Constant | undefined {
    if (this.#take('(')) {
      return this.#within(() => {
        const inner = this.sum()
        return this.#take(')') ? inner : undefined
      })
    }
    if (this.#take('[')) return this.#within(() => this.#list())
    let text: string | undefined
    for (let part = this.#text(); part !== null; part = this.#text()) {
      if (part === undefined) return undefined
      text = (text ?? '') + part
    }
    if (text !== undefined) return text
    const [number] = this.#match(NUMBER) ?? []
    if (number !== undefined) return Number(number)
    const [name] = this.#match(NAME) ?? []
    return name === undefined ? undefined : this.#names.get(name)
  }

  #within<T>(read: () => T): T {
    this.#depth += 1
    const value = read()
    this.#depth -= 1
    return value
  }

  #list(): Constant | undefined {
    const items: Constant[] = []
    while (!this.#take(']')) {
      const item = this.sum()
      if (item === undefined) return undefined
      items.push(item)
      if (!this.#take(',')) return this.#take(']') ? items : undefined
    }
    return items
  }

  /** Returns the text that begins here; `null` if none does, nothing for one with an expression that is not read. */
  #text(): string | null | undefined {
    const head = this.#match(TEXT)
    if (!head) return null
    const [, prefix = '', quote = ''] = head
    const start = this.at
    let end = start
    while (!this.#source.startsWith(quote, end)) end += this.#source[end] === '\\' ? 2 : 1
    this.at = end + quote.length
    const raw = this.#source.slice(start, end)
    const plain = (part: string) => (/r/i.test(prefix) ? part : unescaped(part))
    if (!/f/i.test(prefix)) return plain(raw)
    let isRead = true
    const filled = raw.replace(/\{\{|\}\}|\{([^{}]*)\}|([^{}]+)/g, (whole, expression, rest) => {
      if (rest !== undefined) return plain(rest)
      if (expression === undefined) return whole.charAt(0)
      const value = new Reader(expression, 0, this.#names).sum()
      if (value === undefined) isRead = false
      return String(value)
    })
    return isRead ? filled : undefined
  }
}

function added(left: Constant, right: Constant | undefined): Constant | undefined {
  if (typeof left === 'string' && typeof right === 'string') return left + right
  return typeof left === 'number' && typeof right === 'number' ? left + right : undefined
}

const NAMED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\n': '' }

function unescaped(text: string): string {
  return text.replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|([\s\S]))/g, (whole, x, u, other) => {
    if (x ?? u) return String.fromCharCode(Number.parseInt(x ?? u, 16))
    return NAMED[other] ?? (/["'\\]/.test(other) ? other : whole)
  })
}
