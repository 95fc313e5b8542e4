import { findNearest } from '@episodic/protocol/internal'
import { fieldOf, QUERY_FIELDS } from './query-fields.ts'

/** `:` and `=` mean the same. */
export type QueryOperator = ':' | '=' | '!=' | '<' | '<=' | '>' | '>='

export interface QuerySpan {
  readonly from: number
  readonly to: number
}

/** One condition on a row. A row has to meet all conditions of a query. */
export type QueryTerm =
  | { readonly kind: 'text'; readonly text: string; readonly negated: boolean }
  | {
      readonly kind: 'field'
      readonly field: string
      readonly operator: QueryOperator
      readonly values: readonly string[]
      readonly negated: boolean
    }

export interface QueryProblem extends QuerySpan {
  readonly message: string
}

/** A query as it was read. The terms that are understood are there even if others are not. */
export interface Query {
  readonly terms: readonly (QueryTerm & QuerySpan)[]
  readonly problems: readonly QueryProblem[]
}

const FIELD = /([a-z][^\s"':=<>!,.]*(?:\.(?:"(?:[^"\\]|\\.)*"|[^\s"':=<>!,]*))?)(!=|>=|<=|[:=<>])/iy
const WORD = /[^\s"]+/y
const VALUE = /"(?:[^"\\]|\\.)*"|[^\s",]+/y
const QUOTED = /"(?:[^"\\]|\\.)*"/y

/**
 * Reads a query such as `success:no tag:wide,tall steps>10 -ending:solved "some words"`. Never throws.
 *
 * A term is a text, or a field with an operator and values: `:` `=` `!=`, for numbers also `<` `<=` `>` `>=` and ranges
 * (`steps:5..10`, `tokens>10k`). Several values are alternatives, `*` at the end of a word stands for any end, and `-`
 * before a term negates it.
 */
export function parseQuery(text: string): Query {
  const terms: (QueryTerm & QuerySpan)[] = []
  const problems: QueryProblem[] = []
  let at = 0
  const read = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = at
    const found = expression.exec(text)
    if (found) at += found[0].length
    return found
  }
  while (at < text.length) {
    if (read(/\s+/y)) continue
    const from = at
    const negated = read(/-(?=\S)/y) !== null
    const field = read(FIELD)
    if (field) {
      const values = readValues()
      const named = field[1] as string
      const name = unquoteField(named)
      const operator = field[2] as QueryOperator
      const fieldFrom = from + Number(negated)
      const valuesFrom = fieldFrom + field[0].length
      const found = problemOf(name, operator, values)
      if (found) {
        const span =
          found.about === 'field'
            ? { from: fieldFrom, to: fieldFrom + named.length }
            : { from: found.about === 'values' ? Math.min(valuesFrom, at - 1) : fieldFrom, to: at }
        problems.push({ ...span, message: found.message })
      } else terms.push({ kind: 'field', field: name, operator, values, negated, from, to: at })
      continue
    }
    const quoted = read(QUOTED)
    if (quoted || text[at] !== '"') {
      const words = quoted ? unquote(quoted[0]) : ((read(WORD) as RegExpExecArray)[0] as string)
      if (words.trim() === '') problems.push({ from, to: at, message: 'There is no text between the quotes.' })
      else terms.push({ kind: 'text', text: words, negated, from, to: at })
      continue
    }
    at = text.length
    problems.push({ from, to: at, message: 'The closing quote is missing.' })
  }
  return { terms, problems }

  function readValues(): string[] {
    const values: string[] = []
    for (;;) {
      const value = read(VALUE)
      if (!value) return values
      values.push(unquote(value[0]))
      if (!read(/,/y)) return values
    }
  }
}

export function formatQuery(terms: readonly QueryTerm[]): string {
  return terms
    .map((term) => {
      const sign = term.negated ? '-' : ''
      if (term.kind === 'text') return `${sign}${quoteText(term.text)}`
      return `${sign}${quoteField(term.field)}${term.operator}${term.values.map(quoteValue).join(',')}`
    })
    .join(' ')
}

/** `null` if it is none. */
export function parseQuantity(text: string): number | null {
  const found = /^([+\-−]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([km]?)$/i.exec(text)
  if (!found) return null
  const unit = { '': 1, k: 1e3, m: 1e6 }[(found[2] as string).toLowerCase()] as number
  return Number((found[1] as string).replace('−', '-')) * unit
}

/** Both ends of a range, which are part of it; `null` if it is none. An end that is left out is open. */
export function parseRange(text: string): { readonly low: number; readonly high: number } | null {
  const ends = /^(.*?)\.\.(.*)$/.exec(text)
  if (!ends || text === '..') return null
  const low = ends[1] === '' ? Number.NEGATIVE_INFINITY : parseQuantity(ends[1] as string)
  const high = ends[2] === '' ? Number.POSITIVE_INFINITY : parseQuantity(ends[2] as string)
  return low === null || high === null ? null : { low, high }
}

function problemOf(
  name: string,
  operator: QueryOperator,
  values: readonly string[],
): { readonly about: 'field' | 'term' | 'values'; readonly message: string } | null {
  const field = fieldOf(name)
  if (!field) {
    const near = findNearest(name, [...Object.keys(QUERY_FIELDS), 'term.<name>', 'grade.<name>'])
    const hint = near === null ? '' : ` Did you mean "${near}"?`
    return { about: 'field', message: `There is no field "${name}".${hint} A text with a ":" in it needs quotes.` }
  }
  if (values.length === 0) return { about: 'values', message: `"${name}" needs a value behind "${operator}".` }
  const equals = operator === ':' || operator === '=' || operator === '!='
  if (field.kind === 'number') {
    const wrong = values.find((value) => parseQuantity(value) === null && !(equals && parseRange(value)))
    if (wrong !== undefined)
      return { about: 'values', message: `"${name}" is a number, or a range such as 5..10; "${wrong}" is neither.` }
    return null
  }
  if (!equals && field.kind === 'grade') {
    const wrong = values.find((value) => parseQuantity(value) === null)
    return wrong === undefined ? null : { about: 'values', message: `"${operator}" needs a number; got "${wrong}".` }
  }
  if (!equals) return { about: 'term', message: `"${name}" has no order: use "${name}:${values[0]}".` }
  if (field.kind !== 'word' || field.values === null) return null
  const wrong = values.find((value) => !field.values?.includes(value.toLowerCase()))
  return wrong === undefined
    ? null
    : { about: 'values', message: `"${name}" is ${field.values.join(' or ')}; got "${wrong}".` }
}

function unquote(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/gs, '$1') : text
}

function unquoteField(name: string): string {
  const dot = name.indexOf('.')
  return dot < 0 ? name.toLowerCase() : name.slice(0, dot + 1).toLowerCase() + unquote(name.slice(dot + 1))
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

function quoteText(text: string): string {
  FIELD.lastIndex = 0
  return /^[^\s"-][^\s"]*$/.test(text) && !FIELD.test(text) ? text : quote(text)
}

function quoteField(name: string): string {
  const dot = name.indexOf('.')
  if (dot < 0) return name
  const rest = name.slice(dot + 1)
  return name.slice(0, dot + 1) + (/^[^\s"':=<>!,]+$/.test(rest) ? rest : quote(rest))
}

function quoteValue(value: string): string {
  return /^[^\s",]+$/.test(value) ? value : quote(value)
}
