import { toInt } from './arithmetic.ts'
import { float, type PythonValue } from './value.ts'

/** A call, such as `place_order('AAPL', amount=5)`. */
export interface PythonCall {
  readonly name: string
  readonly positional: readonly PythonValue[]
  readonly named: Readonly<Record<string, PythonValue>>
}

/**
 * Reads a literal at a place of a text of Python: numbers, texts, lists, tuples and dicts of them, `set()` as an empty
 * list. JSON is read too, and keeps its floats and the order of its keys. Throws a `SyntaxError` for anything else.
 */
export function readLiteral(source: string, at = 0): PythonValue {
  return createReader(source, at).value()
}

/**
 * Returns the literal that a name is first bound to in a source, such as `DEFAULT_STATE = {…}`. Throws if there is
 * none.
 */
export function readConstant(source: string, name: string): PythonValue {
  const found = new RegExp(`\\b${name}\\b[^=\\n]*= *`).exec(source)
  if (!found) throw new SyntaxError(`No literal is bound to ${name}.`)
  return readLiteral(source, found.index + found[0].length)
}

export function readCall(source: string): PythonCall {
  return createReader(source, 0).call()
}

const NAMES: Record<string, PythonValue> = {
  None: null,
  True: true,
  False: false,
  null: null,
  true: true,
  false: false,
}
const NUMBER = /-?(?:\d[\d_]*)?\.?\d+(?:[eE][-+]?\d+)?\.?|-?\d+\./y
const NAME = /[A-Za-z_]\w*/y
const SPACE = /(?:\s|#.*)*/y
const OPENING = /([rbuRBU]?)("""|'''|"|')/y
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07', 0: '\0' },
  ...{ '\n': '', '\\': '\\', "'": "'", '"': '"', '/': '/' },
}

function createReader(source: string, start: number) {
  let at = start

  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found) at += found[0].length
    return found
  }
  const fail = (what: string) => new SyntaxError(`${what} is expected at ${at}: ${source.slice(at, at + 40)}`)
  const skip = (token: string) => {
    match(SPACE)
    const isThere = source.startsWith(token, at)
    if (isThere) at += token.length
    return isThere
  }
  const expect = (token: string) => {
    if (!skip(token)) throw fail(token)
  }
  /** Reads items up to a closing token, and returns whether a comma is the last thing before it. */
  const items = (close: string, read: () => void) => {
    let comma = false
    while (!skip(close)) {
      read()
      comma = skip(',')
      match(SPACE)
      if (!comma && !source.startsWith(close, at)) throw fail(close)
    }
    return comma
  }

  const value = (): PythonValue => {
    match(SPACE)
    // Texts beside one another are one.
    let text: string | null = null
    for (let next = match(OPENING); next; next = match(SPACE) && match(OPENING))
      text = (text ?? '') + restOfText(next[1] as string, next[2] as string)
    if (text !== null) return text
    const list: PythonValue[] = []
    if (skip('[')) {
      items(']', () => list.push(value()))
      return list
    }
    if (skip('(')) {
      const comma = items(')', () => list.push(value()))
      return list.length === 1 && !comma ? (list[0] as PythonValue) : { $tuple: list }
    }
    if (skip('{')) return dict()
    const number = match(NUMBER)
    if (number) return numberFrom(number[0])
    if (skip('...')) return { $repr: 'Ellipsis' }
    const name = match(NAME)?.[0]
    if (name === 'set' && skip('(') && skip(')')) return []
    if (name === undefined || !Object.hasOwn(NAMES, name)) throw fail('A literal')
    return NAMES[name] as PythonValue
  }

  const dict = (): PythonValue => {
    const entries: [PythonValue, PythonValue][] = []
    items('}', () => {
      const key = value()
      expect(':')
      entries.push([key, value()])
    })
    const isPlain = entries.every(([key]) => typeof key === 'string' && !/^\d+$|^\$|^__proto__$/.test(key))
    return isPlain ? Object.fromEntries(entries) : { $dict: entries }
  }

  const restOfText = (prefix: string, quote: string) => {
    let text = ''
    while (!source.startsWith(quote, at)) {
      const character = source[at]
      if (character === undefined || (character === '\n' && quote.length === 1)) throw fail(quote)
      at += 1
      if (character !== '\\' || prefix.toLowerCase() === 'r') text += character
      else {
        const [code = ''] = match(/x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[\s\S]/y) ?? []
        text += code[1] ? String.fromCodePoint(Number.parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? `\\${code}`)
      }
    }
    at += quote.length
    return text
  }

  const call = (): PythonCall => {
    match(SPACE)
    const name = match(NAME)?.[0]
    if (name === undefined) throw fail('A name')
    expect('(')
    const positional: PythonValue[] = []
    const named: Record<string, PythonValue> = {}
    items(')', () => {
      match(SPACE)
      const key = match(/([A-Za-z_]\w*)\s*=/y)
      if (key) named[key[1] as string] = value()
      else positional.push(value())
    })
    match(SPACE)
    if (at !== source.length) throw fail('The end')
    return { name, positional, named }
  }

  return { value, call }
}

function numberFrom(text: string): PythonValue {
  const digits = text.replaceAll('_', '')
  return /[.eE]/.test(digits) ? float(Number(digits)) : toInt(BigInt(digits))
}
