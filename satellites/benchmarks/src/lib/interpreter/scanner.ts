/** A part of a source: a name, a number, a text, a sign, the end of a line, or that of the source. */
export interface Token {
  readonly kind: 'name' | 'number' | 'text' | 'sign' | 'line' | 'end'
  readonly text: string
  readonly start: number
}

const BLANK = /(?:[ \t]|\\\r?\n)*(?:#.*(?![\s\S]))?/y
const ALL_BLANK = /(?:\s|#.*|\\\r?\n)*/y
/** Ends of lines, with lines that have nothing but a comment, and what the next one is indented by. */
const LINE = /(?:(?:#.*)?\r?\n[ \t]*)+/y
const NAME = /[A-Za-z_]\w*/y
const NUMBER = /(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?/y
const QUOTED = {
  '"': /[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"/y,
  "'": /[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'/y,
  '"""': /[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"""/y,
  "'''": /[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*'''/y,
}
const OPENING = /[rbfRBFuU]{0,2}("""|'''|"|')/y
const SIGN = /\.\.\.|\*\*|\/\/|->|:=|[-+*/%|&=!<>]=|[-+*/%|&^~<>()[\]{},:.;=@!]/y

/** Reads the tokens of a source one after another. In brackets, lines do not end. */
export interface Scanner {
  readonly source: string
  /** What comes next. */
  readonly token: Token
  /** Takes a sign or a word if it is next, and returns whether it was. */
  take(text: string): boolean
  /** Takes what is next, which has to be this. Throws a `SyntaxError`. */
  expect(text: string): void
  /** Takes what is next, whatever it is. */
  next(): Token
  /** Reads items up to a closing bracket, with commas between them. Returns whether one is the last thing before it. */
  items(close: string, read: () => void): boolean
  fail(what: string): SyntaxError
}

/** Begins to read at a place; `depth`: in how many brackets that is. */
export function createScanner(source: string, start = 0, depth = 0): Scanner {
  let [at, inner] = [start, depth]

  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const [found = null] = pattern.exec(source) ?? []
    if (found !== null) at += found.length
    return found
  }
  const read = (): Token => {
    match(inner > 0 ? ALL_BLANK : BLANK)
    const begun = at
    const made = (kind: Token['kind'], text: string): Token => ({ kind, text, start: begun })
    const line = inner > 0 ? null : match(LINE)
    if (at >= source.length) return made('end', '')
    if (line !== null) return made('line', line)
    const opening = match(OPENING)
    if (opening !== null) {
      const quote = opening.replace(/^\w+/, '') as keyof typeof QUOTED
      if (match(QUOTED[quote]) === null) throw scanner.fail(quote)
      return made('text', source.slice(begun, at))
    }
    const name = match(NAME)
    if (name !== null) return made('name', name)
    const number = match(NUMBER)
    if (number !== null) return made('number', number)
    const sign = match(SIGN)
    if (sign === null) throw scanner.fail('A token')
    if ('([{'.includes(sign)) inner += 1
    if (')]}'.includes(sign)) inner -= 1
    return made('sign', sign)
  }
  let token: Token
  const scanner: Scanner = {
    source,
    get token() {
      return token
    },
    next() {
      const taken = token
      token = read()
      return taken
    },
    take(text) {
      const isNext = token.text === text && token.kind !== 'text'
      if (isNext) token = read()
      return isNext
    },
    expect(text) {
      if (!scanner.take(text)) throw scanner.fail(text)
    },
    items(close, readItem) {
      let comma = false
      while (!scanner.take(close)) {
        readItem()
        comma = scanner.take(',')
        if (!comma && token.text !== close) throw scanner.fail(close)
      }
      return comma
    },
    fail: (what) =>
      new SyntaxError(`${what} is expected at ${token?.start ?? at}: ${source.slice(token?.start ?? at, at + 40)}`),
  }
  token = read()
  return scanner
}
