import { readLiteral } from '../python/expression.ts'

export type Constant = string | number | readonly Constant[]

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
    const [, name, inner, constant = ''] = head
    if (name !== undefined) {
      own = new Map()
      classes.set(name, own)
      continue
    }
    const scope: Map<string, Constant> | null = inner ? own : module
    if (!inner) own = null
    const read = scope && readValue(source, heads.lastIndex, new Map([...module, ...scope]))
    if (!read) continue
    scope.set(constant, read.value)
    heads.lastIndex = read.end
  }
  return { module, classes }
}

const SPACE = /(?:\s|#[^\n]*|\\\n)*/y
const BLANK = /[ \t]*(?:\\\n[ \t]*)*/y
const TEXT = /([rfuRFU]{0,2})("""|'''|"|')((?:\\[\s\S]|(?!\2)[^\\])*)\2/y
const NAME = /[A-Za-z_]\w*/y
const NUMBER = /-?\d+(?:\.\d*)?/y

const fail = (what: string) => new SyntaxError(`No constant: ${what}`)

/** Returns the constant at a place, up to the end of its line; `null` if something else is there. */
function readValue(source: string, start: number, names: ReadonlyMap<string, Constant>) {
  try {
    const { value, end } = readSum(source, start, names)
    return /^[ \t]*(#[^\n]*)?(\n|$)/.test(source.slice(end)) ? { value, end } : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function readSum(source: string, start: number, names: ReadonlyMap<string, Constant>) {
  let [at, depth] = [start, 0]

  const match = (pattern: RegExp) => {
    // Outside of brackets a value ends with its line.
    const space = depth > 0 ? SPACE : BLANK
    space.lastIndex = at
    pattern.lastIndex = at + (space.exec(source)?.[0].length ?? 0)
    const found = pattern.exec(source)
    if (found) at = pattern.lastIndex
    return found
  }
  const take = (sign: string) => match(new RegExp(`\\${sign}`, 'y')) !== null
  const within = <T>(close: string, read: () => T) => {
    depth += 1
    const value = read()
    if (!take(close)) throw fail(close)
    depth -= 1
    return value
  }

  const sum = (): Constant => {
    let left = product()
    while (take('+')) {
      const right = product()
      if (typeof left === 'string' && typeof right === 'string') left += right
      else if (typeof left === 'number' && typeof right === 'number') left += right
      else throw fail('+')
    }
    return left
  }
  const product = (): Constant => {
    let left = part()
    while (typeof left === 'number' && take('*')) {
      const right = part()
      if (typeof right !== 'number') throw fail('*')
      left *= right
    }
    return left
  }
  const part = (): Constant => {
    const value = atom()
    if (Array.isArray(value) && take('[')) {
      const found: Constant | undefined = value.at(Number(within(']', () => match(NUMBER)?.[0] ?? Number.MAX_VALUE)))
      if (found === undefined) throw fail('[')
      return found
    }
    if (typeof value !== 'string' || !take('.')) return value
    const items = match(/join\(/y) && within(')', sum)
    if (!Array.isArray(items)) throw fail('.')
    return items.join(value)
  }
  const atom = (): Constant => {
    if (take('(')) return within(')', sum)
    if (take('[')) return within(']', list)
    let texts: string | undefined
    for (let found = match(TEXT); found; found = match(TEXT)) texts = (texts ?? '') + text(found)
    if (texts !== undefined) return texts
    const [number] = match(NUMBER) ?? []
    if (number !== undefined) return Number(number)
    const found = names.get(match(NAME)?.[0] ?? '')
    if (found === undefined) throw fail('a name')
    return found
  }
  const list = (): Constant[] => {
    const items: Constant[] = []
    while (!match(/(?=\])/y)) {
      items.push(sum())
      if (!take(',')) break
    }
    return items
  }
  const text = ([whole, prefix = '', quote, raw = '']: readonly string[]) => {
    if (!/f/i.test(prefix)) return String(readLiteral(whole as string))
    const written = (expression: string) =>
      JSON.stringify(String(readSum(expression, 0, names).value))
        .slice(1, -1)
        .replaceAll("'", "\\'")
    const filled = raw.replace(/\{\{|\}\}|\{([^{}]*)\}/g, (braces, expression) =>
      expression === undefined ? braces.charAt(0) : written(expression),
    )
    return String(readLiteral(prefix.replace(/f/i, '') + quote + filled + quote))
  }

  return { value: sum(), end: at }
}
