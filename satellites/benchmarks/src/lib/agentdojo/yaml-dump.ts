import { formatFloat, isFloat, numberOf, type PythonFloat } from '../python/value.ts'

/** A date with a time, `2024-05-15 10:00:00`: the same object twice in a value is written once, and named then. */
export class Moment {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What `yaml.safe_dump` is given here: keys are texts. */
export type YamlValue =
  | null
  | boolean
  | number
  | string
  | PythonFloat
  | Moment
  | readonly YamlValue[]
  | { readonly [key: string]: YamlValue }

export interface YamlOptions {
  /** Writes every text in double quotes. */
  readonly quoted?: boolean
  /** Is called with each text that is a value, as it is written, with its quotes. */
  readonly onText?: (text: string, written: string) => void
}

const WIDTH = 80
/** With its tag, a key of one line has less than 128 characters. */
const LONGEST_KEY = 122
const BREAKS = '\n\x85\u2028\u2029'

/** Writes a list or a dict as PyYAML does in its block style: keys sorted, ASCII alone, lines of 80 characters. */
export function dumpYaml(value: YamlValue, options: YamlOptions = {}): string {
  const emitter = new Emitter(options, anchorsIn(value))
  emitter.node(value, null, false)
  return emitter.finish()
}

/** Names what occurs again, in the order in which that happens. */
function anchorsIn(value: YamlValue): Map<Moment, string> {
  const seen = new Set<Moment>()
  const anchors = new Map<Moment, string>()
  const visit = (item: YamlValue): void => {
    if (item instanceof Moment) {
      if (seen.has(item) && !anchors.has(item)) anchors.set(item, `id${String(anchors.size + 1).padStart(3, '0')}`)
      seen.add(item)
    } else if (typeof item === 'object' && item !== null && !isFloat(item))
      for (const [, part] of Array.isArray(item) ? item.entries() : sortedEntries(item)) visit(part as YamlValue)
  }
  visit(value)
  return anchors
}

/** Returns the entries of a dict in the order of Python's texts: by code points. */
export function sortedEntries(dict: object): [string, YamlValue][] {
  return Object.entries(dict).sort(([a], [b]) => compareTexts(a, b))
}

/** Compares texts as Python does: JavaScript compares halves of characters. */
function compareTexts(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const difference = (left[i]?.codePointAt(0) as number) - (right[i]?.codePointAt(0) as number)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** PyYAML's emitter, as far as its block style needs it. */
class Emitter {
  readonly #options: YamlOptions
  readonly #anchors: ReadonlyMap<Moment, string>
  readonly #written = new Set<Moment>()
  #out = ''
  #column = 0
  /** Whether the last character was white space, and whether the line has nothing but indentation. */
  #isSpace = true
  #isIndented = true

  constructor(options: YamlOptions, anchors: ReadonlyMap<Moment, string>) {
    this.#options = options
    this.#anchors = anchors
  }

  finish(): string {
    return this.#out.trim()
  }

  /** Writes a value in a block at `indent`; `null` at the top. */
  node(value: YamlValue, indent: number | null, inMapping: boolean): void {
    if (typeof value !== 'object' || value === null || value instanceof Moment || isFloat(value))
      return void this.#scalar(value, indent === null ? 2 : indent + 2)
    const deeper = indent === null ? 0 : indent + 2
    if (Array.isArray(value)) {
      if (value.length === 0) {
        this.#indicator('[]', true)
        return
      }
      const inner = inMapping && !this.#isIndented ? (indent as number) : deeper
      for (const item of value) {
        this.#newLine(inner)
        this.#indicator('-', true, true)
        this.node(item, inner, false)
      }
      return
    }
    const entries = sortedEntries(value)
    if (entries.length === 0) {
      this.#indicator('{}', true)
      return
    }
    for (const [key, item] of entries) {
      this.#newLine(deeper)
      const isSimple = key !== '' && lengthOf(key) <= LONGEST_KEY && !hasBreak(key)
      if (isSimple) this.#text(key, deeper, true)
      else {
        this.#indicator('?', true, true)
        this.#text(key, deeper + 2, false)
        this.#newLine(deeper)
      }
      this.#indicator(':', !isSimple, !isSimple)
      this.node(item, deeper, true)
    }
  }

  #scalar(value: null | boolean | number | string | PythonFloat | Moment, indent: number): void {
    if (typeof value === 'string') {
      this.#text(value, indent, false)
      return
    }
    if (!(value instanceof Moment)) {
      this.#plain(plainOf(value as number), indent, true)
      return
    }
    const anchor = this.#anchors.get(value)
    if (anchor && this.#written.has(value)) {
      this.#indicator(`*${anchor}`, true)
      return
    }
    this.#written.add(value)
    if (anchor) this.#indicator(`&${anchor}`, true)
    this.#plain(value.text, indent, true)
  }

  #text(text: string, indent: number, isKey: boolean): void {
    const start = this.#out.length
    if (this.#options.quoted) this.#doubleQuoted(text, indent, !isKey)
    else {
      const style = styleOf(text)
      if (style === 'plain') this.#plain(text, indent, !isKey)
      else if (style === 'single') this.#singleQuoted(text, indent, !isKey)
      else this.#doubleQuoted(text, indent, !isKey)
    }
    if (!isKey) this.#options.onText?.(text, this.#out.slice(start).trimStart())
  }

  #write(text: string): void {
    this.#out += text
    this.#column += text.length
  }

  #indicator(text: string, needsSpace: boolean, keepsIndentation = false): void {
    this.#write(this.#isSpace || !needsSpace ? text : ` ${text}`)
    this.#isSpace = false
    this.#isIndented &&= keepsIndentation
  }

  #break(): void {
    this.#out += '\n'
    this.#column = 0
    this.#isSpace = true
    this.#isIndented = true
  }

  #newLine(indent: number): void {
    if (!this.#isIndented || this.#column > indent || (this.#column === indent && !this.#isSpace)) this.#break()
    if (this.#column < indent) {
      this.#isSpace = true
      this.#write(' '.repeat(indent - this.#column))
    }
  }

  #plain(text: string, indent: number, canSplit: boolean): void {
    if (!this.#isSpace) this.#write(' ')
    this.#isSpace = false
    this.#isIndented = false
    for (const run of text.split(/( +)/)) {
      if (run === ' ' && this.#column > WIDTH && canSplit) {
        this.#newLine(indent)
        this.#isSpace = false
        this.#isIndented = false
      } else this.#write(run)
    }
  }

  #singleQuoted(text: string, indent: number, canSplit: boolean): void {
    this.#indicator("'", true)
    // What is between runs of spaces or of line breaks has neither.
    const runs = text.split(/( +|[\n\x85\u2028\u2029]+)/)
    let at = 0
    for (const run of runs) {
      const end = at + run.length
      if (run === ' ' && this.#column > WIDTH && canSplit && at !== 0 && end !== text.length) this.#newLine(indent)
      else if (run !== '' && BREAKS.includes(run.charAt(0))) {
        if (run.startsWith('\n')) this.#break()
        for (const character of run) {
          this.#break()
          if (character !== '\n') this.#out = this.#out.slice(0, -1) + character
        }
        this.#newLine(indent)
      } else this.#write(run.replaceAll("'", "''"))
      at = end
    }
    this.#indicator("'", false)
  }

  #doubleQuoted(text: string, indent: number, canSplit: boolean): void {
    this.#indicator('"', true)
    const characters = Array.from(text)
    let start = 0
    for (let end = 0; end <= characters.length; end += 1) {
      const character = characters[end]
      if (character === undefined || character === '"' || character === '\\' || !/[ -~]/.test(character)) {
        if (start < end) this.#write(characters.slice(start, end).join(''))
        start = end
        if (character !== undefined) {
          this.#write(escaped(character))
          start = end + 1
        }
      }
      const isPlace = end > 0 && end < characters.length - 1 && (character === ' ' || start >= end)
      if (isPlace && this.#column + end - start > WIDTH && canSplit) {
        this.#write(`${characters.slice(start, end).join('')}\\`)
        if (start < end) start = end
        this.#newLine(indent)
        this.#isSpace = false
        this.#isIndented = false
        if (characters[start] === ' ') this.#write('\\')
      }
    }
    this.#indicator('"', false)
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '\0': '0', '\x07': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', '\x1b': 'e' },
  ...{ '"': '"', '\\': '\\', '\x85': 'N', '\xa0': '_', '\u2028': 'L', '\u2029': 'P' },
}

function escaped(character: string): string {
  const known = ESCAPES[character]
  if (known) return `\\${known}`
  const code = character.codePointAt(0) as number
  const digits = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
}

function plainOf(value: null | boolean | number | PythonFloat): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (!isFloat(value)) return String(value)
  const text = formatFloat(numberOf(value))
  if (/^-?inf$/.test(text)) return text.replace('inf', '.inf')
  if (text === 'nan') return '.nan'
  return text.includes('.') ? text : text.replace('e', '.0e')
}

/** What a plain text would be read as by YAML 1.1, and not as a text. */
const NO_TEXT = new RegExp(
  [
    'yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF',
    '[-+]?(?:[0-9][0-9_]*)\\.[0-9_]*(?:[eE][-+][0-9]+)?|\\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?',
    '[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN)',
    '[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+',
    '<<|~|null|Null|NULL||=|[!&*]',
    '[0-9]{4}-[0-9]{2}-[0-9]{2}',
    '[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \\t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(?:\\.[0-9]*)?(?:[ \\t]*(?:Z|[-+][0-9][0-9]?(?::[0-9]{2})?))?',
  ]
    .map((part) => `^(?:${part})$`)
    .join('|'),
)

const lengthOf = (text: string) => Array.from(text).length
const hasBreak = (text: string) => /[\n\x85\u2028\u2029]/.test(text)

/** Returns how PyYAML writes a text: see `analyze_scalar` there. */
function styleOf(text: string): 'plain' | 'single' | 'double' {
  const isMultiline = hasBreak(text)
  const isSpecial = /[^\n -~]/.test(text) || / [\n]/.test(text)
  const isIndicator =
    /^(---|\.\.\.)/.test(text) ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[?:-](\s|$)/.test(text) ||
    /.:(\s|$)/s.test(text) ||
    /\s#/.test(text)
  const isPlain = !(isSpecial || isMultiline || isIndicator || text.startsWith(' ') || text.endsWith(' '))
  if (isPlain && !NO_TEXT.test(text)) return 'plain'
  return isSpecial || /\n /.test(text) ? 'double' : 'single'
}
