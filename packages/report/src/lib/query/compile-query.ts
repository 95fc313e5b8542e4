import type { Column, ColumnName, EpisodeColumns } from '../rows/columns.ts'
import {
  parseQuantity,
  parseRange,
  type Query,
  type QueryOperator,
  type QueryProblem,
  type QuerySpan,
  type QueryTerm,
} from './parse-query.ts'
import { fieldOf, type NumberOf, type WordsOf } from './query-fields.ts'

export interface QueryLookups {
  rowsWithText?(text: string): ReadonlySet<number>
  rowsOfTask?(prefix: string): ReadonlySet<number>
  gradeOf?(grader: string, row: number): boolean | number | string | null
}

export interface CompiledQuery {
  matches(row: number): boolean
  /** What the run does not have; such terms match no row. */
  readonly problems: readonly QueryProblem[]
}

export interface QueryNeeds {
  readonly columns: readonly ColumnName[]
  readonly texts: readonly string[]
  readonly tasks: readonly string[]
  readonly graders: readonly string[]
}

export function needsOf({ terms }: Pick<Query, 'terms'>): QueryNeeds {
  const columns = new Set<ColumnName>(['counts'])
  const needs = { texts: [] as string[], tasks: [] as string[], graders: [] as string[] }
  for (const term of terms) {
    if (term.kind === 'text') {
      needs.texts.push(term.text)
      continue
    }
    const field = fieldOf(term.field)
    if (!field) continue
    if (field.kind === 'task') needs.tasks.push(...term.values)
    else if (field.kind === 'grade') needs.graders.push(graderOf(term.field))
    else for (const name of field.columns) columns.add(name)
  }
  return { columns: [...columns], ...needs }
}

/**
 * Compiles a query over the rows of a run. Only lines that count match, unless the query asks for `counts`. A figure
 * that is unknown matches no comparison. A text or a task matches no row where it cannot be looked up.
 *
 * @param columns - with those that {@link needsOf} lists. Throws a `RangeError` without them, but for reward terms.
 */
export function compileQuery(
  { terms }: Pick<Query, 'terms'>,
  episodes: EpisodeColumns,
  lookups: QueryLookups = {},
): CompiledQuery {
  const problems: QueryProblem[] = []
  const read = (name: ColumnName): Column => {
    const column = episodes.columns[name]
    if (!column) throw new RangeError(`The query needs the column "${name}".`)
    return column
  }
  const tests = terms.map((term) => {
    const test = testOf(term)
    return term.negated ? (row: number) => !test(row) : test
  })
  if (!terms.some((term) => term.kind === 'field' && term.field === 'counts')) {
    const counts = read('counts')
    tests.unshift((row) => counts[row] === 1)
  }
  return {
    problems,
    matches(row) {
      for (const test of tests) if (!test(row)) return false
      return true
    },
  }

  function testOf(term: QueryTerm & QuerySpan): (row: number) => boolean {
    const { from, to } = term
    const never = (message: string) => {
      problems.push({ from, to, message })
      return () => false
    }
    if (term.kind === 'text') {
      const rows = lookups.rowsWithText?.(term.text)
      return rows ? (row) => rows.has(row) : never('The words of episodes cannot be searched here.')
    }
    const { field: name, operator, values } = term
    const field = fieldOf(name)
    const inverted = operator === '!='
    const [kind, own = ''] = /^(term|verdict)\.(.*)$/.exec(name)?.slice(1) ?? []
    const { terms } = episodes.dictionaries
    if (kind && !terms.includes(kind === 'term' ? own : name)) {
      const known = kind === 'term' ? terms : terms.flatMap((term) => /^verdict\.(.*)$/.exec(term)?.[1] ?? [])
      const what = kind === 'term' ? 'reward term' : 'verdict'
      return never(`There is no ${what} "${own}" in this run; there are: ${known.join(', ') || 'none'}.`)
    }
    switch (field?.kind) {
      case 'number':
        return numberTest(field.read(read), operator, values)
      case 'word':
        return wordTest(field.read(read, episodes), values, inverted)
      case 'task': {
        if (!lookups.rowsOfTask) return never('Tasks cannot be looked up here.')
        const sets = values.map((prefix) => lookups.rowsOfTask?.(prefix))
        return (row) => sets.some((rows) => rows?.has(row)) !== inverted
      }
      case 'grade': {
        const { gradeOf } = lookups
        if (!gradeOf) return never('There are no grades here.')
        const grader = graderOf(name)
        return gradeTest((row) => gradeOf(grader, row), operator, values)
      }
      case undefined:
        return never(`There is no field "${name}".`)
    }
  }
}

function graderOf(field: string): string {
  return field.slice('grade.'.length)
}

/** Sums of rewards have rounding errors; a reader does not see these. */
function isNear(a: number, b: number): boolean {
  return a === b || (Number.isFinite(b) && Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)))
}

function numberTest(numberOf: NumberOf, operator: QueryOperator, values: readonly string[]): (row: number) => boolean {
  const tests = values.map((value) => {
    const range = parseRange(value)
    if (range) {
      const { low, high } = range
      return (x: number) => (x >= low && x <= high) || isNear(x, low) || isNear(x, high)
    }
    const given = parseQuantity(value) ?? Number.NaN
    if (operator === '<') return (x: number) => x < given && !isNear(x, given)
    if (operator === '<=') return (x: number) => x < given || isNear(x, given)
    if (operator === '>') return (x: number) => x > given && !isNear(x, given)
    if (operator === '>=') return (x: number) => x > given || isNear(x, given)
    return (x: number) => isNear(x, given)
  })
  const inverted = operator === '!='
  return (row) => {
    const x = numberOf(row)
    return !Number.isNaN(x) && tests.some((test) => test(x)) !== inverted
  }
}

function wordTest(wordsOf: WordsOf, values: readonly string[], inverted: boolean): (row: number) => boolean {
  const isWanted = wordMatch(values)
  // Rows share their lists of words, so each list is compared once.
  const known = new Map<readonly string[], boolean>()
  return (row) => {
    const words = wordsOf(row)
    if (words === null) return false
    let met = known.get(words)
    if (met === undefined) {
      met = words.some(isWanted) !== inverted
      known.set(words, met)
    }
    return met
  }
}

/** Upper and lower case are the same; `*` at the end of a value stands for any end. */
function wordMatch(values: readonly string[]): (word: string) => boolean {
  const lower = values.map((value) => value.toLowerCase())
  const whole = new Set(lower)
  const starts = lower.flatMap((value) => (value.endsWith('*') ? [value.slice(0, -1)] : []))
  return (word) => {
    const given = word.toLowerCase()
    return whole.has(given) || starts.some((start) => given.startsWith(start))
  }
}

function gradeTest(
  gradeOf: (row: number) => boolean | number | string | null,
  operator: QueryOperator,
  values: readonly string[],
): (row: number) => boolean {
  const isWanted = wordMatch(values)
  const numberOf = (row: number) => {
    const grade = gradeOf(row)
    return typeof grade === 'number' ? grade : Number.NaN
  }
  const byNumber = numberTest(numberOf, operator, values)
  return (row) => {
    const grade = gradeOf(row)
    if (grade === null) return false
    if (typeof grade === 'number') return byNumber(row)
    const word = typeof grade === 'string' ? grade : grade ? 'yes' : 'no'
    return isWanted(word) !== (operator === '!=')
  }
}
