import { formatFloat, isFloat, numberOf, type PythonFloat } from '../python/value.ts'

/** A date with a time, `2024-05-15 10:00:00`: the same object twice in a value is written once, and named then. */
export class Moment {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Scalar = null | boolean | number | string | PythonFloat | Moment

/** What `yaml.safe_dump` is given here: keys are texts. */
export type YamlValue = Scalar | readonly YamlValue[] | { readonly [key: string]: YamlValue }

export interface YamlOptions {
  readonly quoted?: boolean
  /** Is called with each text that is a value, as it is written, with its quotes. */
  readonly onText?: (text: string, written: string) => void
}

/** With its tag, a key of one line has less than 128 characters. */
const LONGEST_KEY = 122

/** Writes a list or a dict as PyYAML does in its block style: keys sorted, ASCII alone, lines of 80 characters. */
export function dumpYaml(value: YamlValue, { quoted = false, onText }: YamlOptions = {}): string {
  const anchors = anchorsIn(value)
  const written = new Set<Moment>()

  const text = (item: string, line: YamlLine, canSplit = true): string => {
    const style = quoted ? 'double' : styleOf(item)
    const found = STYLES[style](item, line, canSplit)
    if (canSplit) onText?.(item, found)
    return found
  }
  const scalar = (item: Scalar, line: YamlLine): string => {
    if (typeof item === 'string') return text(item, line)
    if (!(item instanceof Moment)) return plainOf(item)
    const anchor = anchors.get(item)
    if (anchor && written.has(item)) return `*${anchor}`
    written.add(item)
    const mark = anchor ? `&${anchor} ` : ''
    return mark + plain(item.text, { ...line, column: line.column + mark.length }, true)
  }
  /** Writes a value in a block whose first line begins at `indent`. */
  const block = (item: YamlValue, indent: number, column = indent): string => {
    if (isScalar(item)) return scalar(item, { column, indent })
    const line = `\n${' '.repeat(indent)}`
    if (Array.isArray(item))
      return item.length === 0 ? '[]' : item.map((part) => `- ${block(part, indent + 2)}`).join(line)
    const entries = sortedEntries(item).map(([key, part]) => {
      if (key === '' || lengthOf(key) > LONGEST_KEY || hasBreak(key))
        return `? ${text(key, { column: indent + 2, indent: indent + 2 })}${line}: ${block(part, indent + 2)}`
      const lead = `${text(key, { column: indent, indent }, false)}:`
      if (isScalar(part) || Object.keys(part).length === 0)
        return `${lead} ${block(part, indent + 2, indent + lead.length + 1)}`
      return Array.isArray(part) ? lead + line + block(part, indent) : `${lead}${line}  ${block(part, indent + 2)}`
    })
    return entries.length === 0 ? '{}' : entries.join(line)
  }
  return block(value, 0)
}

function isScalar(value: YamlValue): value is Scalar {
  return typeof value !== 'object' || value === null || value instanceof Moment || isFloat(value)
}

/** Names what occurs again, in the order in which that happens. */
function anchorsIn(value: YamlValue): Map<Moment, string> {
  const seen = new Set<Moment>()
  const anchors = new Map<Moment, string>()
  const visit = (item: YamlValue): void => {
    if (item instanceof Moment) {
      if (seen.has(item) && !anchors.has(item)) anchors.set(item, `id${String(anchors.size + 1).padStart(3, '0')}`)
      seen.add(item)
    } else if (!isScalar(item))
      for (const [, part] of Array.isArray(item) ? item.entries() : sortedEntries(item)) visit(part)
  }
  visit(value)
  return anchors
}

/** Returns the entries of a dict in the order of Python's texts: by code points, where JavaScript compares halves. */
export function sortedEntries(dict: object): [string, YamlValue][] {
  return Object.entries(dict).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

/** Where a scalar begins, and where its next lines do. */
interface YamlLine {
  readonly column: number
  readonly indent: number
}

const WIDTH = 80

/** Writes runs of a text, and begins a line in place of a single space past the width. */
function fold(runs: readonly string[], { column, indent }: YamlLine, canFold: (index: number) => boolean): string {
  let at = column
  return runs
    .map((run, i) => {
      const isFolded = run === ' ' && at > WIDTH && canFold(i)
      const written = isFolded ? `\n${' '.repeat(indent)}` : run
      at = written.includes('\n') ? indent : at + run.length
      return written
    })
    .join('')
}

function plain(text: string, line: YamlLine, canSplit: boolean): string {
  return fold(text.split(/( +)/), line, () => canSplit)
}

function singleQuoted(text: string, { column, indent }: YamlLine, canSplit: boolean): string {
  // A line break is written twice, and next to it is no space: such a text has double quotes.
  const runs = text.split(/( +|\n+)/).map((run) => {
    return run.startsWith('\n') ? `\n${run}${' '.repeat(indent)}` : run.replaceAll("'", "''")
  })
  const isInner = (i: number) => runs.slice(0, i).some(Boolean) && runs.slice(i + 1).some(Boolean)
  return `'${fold(runs, { column: column + 1, indent }, (i) => canSplit && isInner(i))}'`
}

function doubleQuoted(text: string, { column, indent }: YamlLine, canSplit: boolean): string {
  const characters = Array.from(text)
  let [out, at, start] = ['"', column + 1, 0]
  const write = (part: string) => {
    out += part
    at += part.length
  }
  for (let end = 0; end <= characters.length; end += 1) {
    const character = characters[end]
    if (character === undefined || /["\\]|[^ -~]/.test(character)) {
      write(characters.slice(start, end).join('') + (character === undefined ? '' : escaped(character)))
      start = character === undefined ? end : end + 1
    }
    const isPlace = end > 0 && end < characters.length - 1 && (character === ' ' || start >= end)
    if (isPlace && canSplit && at + end - start > WIDTH) {
      out += `${characters.slice(start, end).join('')}\\\n${' '.repeat(indent)}`
      start = Math.max(start, end)
      at = indent
      if (characters[start] === ' ') write('\\')
    }
  }
  return `${out}"`
}

const STYLES = { plain, single: singleQuoted, double: doubleQuoted } as const

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
  if (value === null || !isFloat(value)) return String(value)
  const text = formatFloat(numberOf(value))
  if (/inf|nan/.test(text)) return text.replace(/inf|nan/, '.$&')
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
function styleOf(text: string): keyof typeof STYLES {
  const isSpecial = /[^\n -~]| \n/.test(text)
  const isIndicator = /^(---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](\s|$))|.:(\s|$)|\s#/s.test(text)
  if (!isSpecial && !isIndicator && !/\n|^ | $/.test(text) && !NO_TEXT.test(text)) return 'plain'
  return isSpecial || text.includes('\n ') ? 'double' : 'single'
}
