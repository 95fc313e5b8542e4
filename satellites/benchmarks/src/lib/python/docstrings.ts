/** A function of Python as a model reads of it: what its docstring and its parameters say. */
export interface DocumentedFunction {
  readonly name: string
  /** The first line of the docstring; empty if there is none. */
  readonly short: string
  /** What follows it, up to the first section (`Args:`, `Returns:`, `:param …:`); empty if there is nothing. */
  readonly long: string
  /** What the docstring says of each parameter, by its name. */
  readonly args: { readonly [name: string]: string }
  /** The parameters as they are written, without `self` and `cls`; `null` where there is no type or no default. */
  readonly parameters: readonly {
    readonly name: string
    readonly type: string | null
    readonly default: string | null
  }[]
}

/**
 * Reads the functions and methods of a Python source, by their names; of several with one name, the first that has a
 * docstring. Sections are those of the styles of Google (`Args:`) and of reST (`:param x:`), as `docstring_parser`
 * reads them. The source is read and never run.
 */
export function readDocstrings(source: string): ReadonlyMap<string, DocumentedFunction> {
  const found = new Map<string, DocumentedFunction>()
  for (const match of source.matchAll(/^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(/gm)) {
    const name = match[1] as string
    const open = match.index + match[0].length
    const close = closingOf(source, open)
    const body = source.slice(colonAfter(source, close) + 1)
    const text = /^(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*r?("""|''')([\s\S]*?)\1/i.exec(body)?.[2]
    if (found.get(name)?.short) continue
    const doc = cleaned((text ?? '').replace(/\\(["'\\])/g, '$1'))
    found.set(name, { name, ...sectionsOf(doc), parameters: parametersOf(source.slice(open, close)) })
  }
  return found
}

/** The position of the bracket that closes what was opened before `from`. */
function closingOf(source: string, from: number): number {
  let depth = 1
  for (let at = from; at < source.length; at++) {
    const character = source[at] as string
    if (character === '"' || character === "'") at = stringEnd(source, at)
    else if (character === '#') at = source.indexOf('\n', at)
    else if ('([{'.includes(character)) depth += 1
    else if (')]}'.includes(character) && --depth === 0) return at
  }
  return source.length
}

function stringEnd(source: string, from: number): number {
  let at = from + 1
  while (at < source.length && source[at] !== source[from]) at += source[at] === '\\' ? 2 : 1
  return at
}

/** The colon that ends a header, after a type of what is returned, which may have brackets. */
function colonAfter(source: string, from: number): number {
  let at = from + 1
  while (at < source.length && source[at] !== ':') at = source[at] === '[' ? closingOf(source, at + 1) + 1 : at + 1
  return at
}

/** What `inspect.cleandoc` makes of a docstring: without the indentation that all lines but the first share. */
function cleaned(text: string): string {
  const [first = '', ...rest] = text.split('\n')
  const indents = rest.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length)
  const indent = indents.length === 0 ? 0 : Math.min(...indents)
  return [first.trimStart(), ...rest.map((line) => line.slice(indent))].join('\n').replace(/^\n+|\n+$/g, '')
}

const SECTION =
  /^(?:(Arguments|Args|Parameters|Params)|Raises|Exceptions|Except|Attributes|Examples?|Returns|Yields):[ \t]*$|^:/m

function sectionsOf(doc: string): Pick<DocumentedFunction, 'short' | 'long' | 'args'> {
  const start = SECTION.exec(doc)?.index ?? doc.length
  const [short = '', ...long] = doc.slice(0, start).split('\n')
  const args: Record<string, string> = {}
  for (const [, name, text] of doc.matchAll(/^:param (?:[^:\n]* )?(\w+):([\s\S]*?)(?=^:|(?![\s\S]))/gm))
    args[name as string] = continued(text as string)
  const heading = /^(?:Arguments|Args|Parameters|Params):[ \t]*\n/m.exec(doc)
  if (heading) {
    const rest = doc.slice(heading.index + heading[0].length)
    const section = rest.slice(0, /^\S/m.exec(rest)?.index ?? rest.length)
    const indent = /^[ \t]+/.exec(section)?.[0] ?? ''
    for (const entry of section.split(new RegExp(`^${indent}(?=\\S)`, 'm')).slice(1)) {
      const [, name, text] = /^\*{0,2}(\w+)(?:[ \t]*\([^\n]*?\))?:([\s\S]*)$/.exec(entry) ?? []
      if (name) args[name] = continued(text as string)
    }
  }
  return { short: short.trimEnd(), long: long.join('\n').trim(), args }
}

function continued(text: string): string {
  const [first = '', ...rest] = text.trim().split('\n')
  return rest.length === 0 ? first : `${first}\n${cleaned(`\n${rest.join('\n')}`)}`
}

function parametersOf(list: string): DocumentedFunction['parameters'] {
  const code = list.replace(/("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|#[^\n]*/g, '$1')
  return separated(code, ',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !/^(self|cls|\*|\/)$/.test(one))
    .map((one) => {
      const [declared = '', ...defaults] = separated(one, '=')
      const [name = '', ...type] = separated(declared, ':')
      const written = (parts: readonly string[], by: string) => (parts.length === 0 ? null : parts.join(by).trim())
      return { name: name.trim(), type: written(type, ':'), default: written(defaults, '=') }
    })
}

/** Splits a text where a character is in no bracket and in no string. */
function separated(text: string, by: string): string[] {
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '"' || character === "'") at = stringEnd(text, at)
    else if ('([{'.includes(character)) at = closingOf(text, at + 1)
    else if (character === by) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)]
}
