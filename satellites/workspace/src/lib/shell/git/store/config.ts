import type { Folder } from './folder.ts'

/** A value of a configuration, with the key as git prints it. */
export interface ConfigValue {
  readonly key: string
  readonly value: string
}

/** Returns the values of a configuration file, in their order. */
export function parseConfig(text: string): ConfigValue[] {
  return sections(text).flatMap(({ name, lines }) =>
    lines.flatMap(({ key, value }) => (key === null ? [] : [{ key: `${name}.${key}`, value }])),
  )
}

interface Section {
  readonly name: string
  readonly lines: { readonly key: string | null; readonly value: string; readonly text: string }[]
  readonly head: string
}

function sections(text: string): Section[] {
  const found: Section[] = [{ name: '', head: '', lines: [] }]
  for (const line of text.replace(/\\\n/g, '').split(/(?<=\n)/)) {
    const [, plain, quoted, rest = ''] = /^\s*\[([\w.-]+)(?:\s+"((?:\\.|[^"\\])*)")?\](.*)/s.exec(line) ?? []
    if (plain !== undefined) {
      const name = plain.toLowerCase() + (quoted === undefined ? '' : `.${quoted.replace(/\\(.)/g, '$1')}`)
      found.push({ name, head: line, lines: [] })
      if (rest.trim() !== '') found.at(-1)?.lines.push({ ...parsedLine(rest), text: '' })
    } else found.at(-1)?.lines.push({ ...parsedLine(line), text: line })
  }
  return found
}

function parsedLine(line: string): { readonly key: string | null; readonly value: string } {
  const [, key, value] = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*?))?\s*$/s.exec(line) ?? []
  return key === undefined ? { key: null, value: '' } : { key: key.toLowerCase(), value: unquoted(value ?? 'true') }
}

/** Returns a value without its quotes, escapes and comment. */
function unquoted(text: string): string {
  const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b' }
  let [value, isQuoted] = ['', false]
  for (let i = 0; i < text.length; i++) {
    const letter = text[i] as string
    if (letter === '\\') {
      i += 1
      value += escapes[text[i] as string] ?? text[i] ?? ''
    } else if (letter === '"') isQuoted = !isQuoted
    else if (!isQuoted && (letter === '#' || letter === ';')) return value.trimEnd()
    else value += letter
  }
  return value
}

/** Returns a key as files have it: `name` of a section, of lower case but for the middle part. */
export function normalKey(key: string): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
  return key.slice(0, first).toLowerCase() + key.slice(first, last) + key.slice(last).toLowerCase()
}

/** Returns a configuration file with a key set to a value, or without it for `null`. */
export function withConfig(text: string, key: string, value: string | null): string {
  const normal = normalKey(key)
  const at = normal.lastIndexOf('.')
  const [name, word, asGiven] = [normal.slice(0, at), normal.slice(at + 1), key.slice(key.lastIndexOf('.') + 1)]
  const all = sections(text)
  const written = value === null ? null : `\t${asGiven} = ${quoted(value)}\n`
  const holder = all.findLast((section) => section.name === name && section.lines.some((line) => line.key === word))
  if (holder) {
    const index = holder.lines.findLastIndex((line) => line.key === word)
    holder.lines.splice(index, 1, ...(written === null ? [] : [{ key: word, value: '', text: written }]))
    if (holder.lines.every((line) => line.text.trim() === '')) all.splice(all.indexOf(holder), 1)
  } else if (written !== null) {
    const last = all.findLast((section) => section.name === name)
    if (last) last.lines.push({ key: word, value: '', text: written })
    else all.push({ name, head: `${headOf(name, key)}\n`, lines: [{ key: word, value: '', text: written }] })
  }
  return all.map(({ head, lines }) => head + lines.map((line) => line.text).join('')).join('')
}

function headOf(name: string, key: string): string {
  const dot = name.indexOf('.')
  if (dot < 0) return `[${key.slice(0, name.length)}]`
  return `[${name.slice(0, dot)} "${name.slice(dot + 1).replace(/["\\]/g, '\\$&')}"]`
}

function quoted(value: string): string {
  const escaped = value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  return /^\s|\s$|[#;]/.test(value) ? `"${escaped}"` : escaped
}

/** The configuration of a repository and of the user. */
export class Config {
  readonly values: readonly ConfigValue[]

  constructor(values: readonly ConfigValue[]) {
    this.values = values
  }

  get(key: string): string | null {
    return this.values.findLast((each) => each.key === normalKey(key))?.value ?? null
  }

  /** Returns whether a value is true: `fallback` if there is none. */
  isOn(key: string, fallback: boolean): boolean {
    const value = this.get(key)
    return value === null ? fallback : /^(true|yes|on|[1-9]\d*)$/i.test(value)
  }
}

/** Reads the configuration of the user and of a repository. */
export function readConfig(home: Folder, repository: Folder | null, given: readonly ConfigValue[]): Config {
  const texts = [home.read('.gitconfig') ?? '', repository?.read('config') ?? '']
  return new Config([...texts.flatMap(parseConfig), ...given])
}
