import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFold } from '../fold/fold.ts'
import { isSuccess } from '../fold/scored-outcome.ts'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { rowFigures } from '../rows/row-figures.ts'
import { createRowTable } from '../rows/row-table.ts'
import { compileQuery, needsOf } from './compile-query.ts'
import { formatQuery, parseQuantity, parseQuery, type QueryTerm } from './parse-query.ts'

const records = playRun({ tasks: 40, attempts: 5, failures: 0.1 }).map((record, i) => ({
  ...record,
  policy: { ...record.policy, ...(i % 3 > 0 && { version: `guess-${i % 3}` }) },
}))
const table = createRowTable()
for (const record of records) table.add(record)
const episodes = table.columns()

/** The rows that a query matches; throws if it has problems. */
function rowsOf(text: string, lookups = {}) {
  const query = parseQuery(text)
  const compiled = compileQuery(query, episodes, lookups)
  expect([...query.problems, ...compiled.problems]).toEqual([])
  return records.flatMap((_, row) => (compiled.matches(row) ? [row] : []))
}

function rowsWhere(test: (record: (typeof records)[number]) => boolean) {
  return records.flatMap((record, row) => (test(record) ? [row] : []))
}

/** What is wrong with a query, with the part that it is about. */
function problemsOf(text: string) {
  return parseQuery(text).problems.map(({ from, to, message }) => [text.slice(from, to), message])
}

const anyTerm: fc.Arbitrary<QueryTerm> = fc.oneof(
  fc.record({
    kind: fc.constant('text' as const),
    text: fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() !== ''),
    negated: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('field' as const),
    field: fc.constantFrom('tag', 'ending', 'player', 'failed'),
    operator: fc.constantFrom(':' as const, '=' as const, '!=' as const),
    values: fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 3 }),
    negated: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('field' as const),
    field: fc.oneof(
      fc.constantFrom('steps', 'return', 'cost', 'model'),
      fc.string({ unit: 'grapheme', minLength: 1 }).map((name) => `term.${name}`),
    ),
    operator: fc.constantFrom('<' as const, '<=' as const, '>' as const, '>=' as const, '!=' as const),
    values: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }).map(String), { minLength: 1, maxLength: 2 }),
    negated: fc.boolean(),
  }),
)

describe('parseQuery', () => {
  it('reads what formatQuery writes', () => {
    fc.assert(
      fc.property(fc.array(anyTerm, { maxLength: 5 }), (terms) => {
        const { terms: read, problems } = parseQuery(formatQuery(terms))
        expect(problems).toEqual([])
        expect(read.map(({ from, to, ...term }) => term)).toEqual(terms)
      }),
      { numRuns: 500 },
    )
  })

  it('never throws, and places every term and problem within the query, in order', () => {
    const parts = fc.constantFrom(
      'steps',
      '>',
      ':',
      '"',
      ',',
      ' ',
      '-',
      '\\',
      '10',
      '..',
      'tag',
      'x',
      'term.',
      '!=',
      '*',
    )
    const anyText = fc.oneof(
      fc.string(),
      fc.array(parts, { maxLength: 12 }).map((some) => some.join('')),
    )
    fc.assert(
      fc.property(anyText, (text) => {
        const query = parseQuery(text)
        const spans = [...query.terms, ...query.problems]
        for (const { from, to } of spans) {
          expect(from).toBeGreaterThanOrEqual(0)
          expect(to).toBeGreaterThan(from)
          expect(to).toBeLessThanOrEqual(text.length)
        }
        expect(query.terms.map(({ from }) => from)).toEqual(query.terms.map(({ from }) => from).sort((a, b) => a - b))
        compileQuery(query, episodes).matches(0)
      }),
      { numRuns: 1_000 },
    )
  })

  it('says where something is wrong, and what to write instead', () => {
    expect(problemsOf('tag:wide stpes>10')).toEqual([
      ['stpes', 'There is no field "stpes". Did you mean "steps"? A text with a ":" in it needs quotes.'],
    ])
    expect(problemsOf('steps>ten')).toEqual([
      ['ten', '"steps" is a number, or a range such as 5..10; "ten" is neither.'],
    ])
    expect(problemsOf('steps>')).toEqual([['>', '"steps" needs a value behind ">".']])
    expect(problemsOf('-tag>wide')).toEqual([['tag>wide', '"tag" has no order: use "tag:wide".']])
    expect(problemsOf('success:maybe')).toEqual([['maybe', '"success" is yes or no; got "maybe".']])
    expect(problemsOf('one "two')).toEqual([['"two', 'The closing quote is missing.']])
    expect(problemsOf('"" x')).toEqual([['""', 'There is no text between the quotes.']])
    expect(parseQuery('tag:wide stpes>10').terms).toHaveLength(1)
  })
})

describe('parseQuantity', () => {
  it('reads numbers with and without a unit', () => {
    expect(['10', '-0.5', '−.5', '1e3', '20k', '1.5M', '', '1x', 'k'].map(parseQuantity)).toEqual([
      10,
      -0.5,
      -0.5,
      1_000,
      20_000,
      1_500_000,
      null,
      null,
      null,
    ])
  })
})

describe('compileQuery', () => {
  it('matches the rows that meet every condition', () => {
    const finished = (record: (typeof records)[number]) => record.outcome.kind === 'finished'
    expect(rowsOf('')).toEqual(rowsWhere(() => true))
    expect(rowsOf('success:yes')).toEqual(rowsWhere(isSuccess))
    expect(rowsOf('success:no')).toEqual(rowsWhere((record) => finished(record) && !isSuccess(record)))
    expect(rowsOf('success!=yes')).toEqual(rowsOf('success:no'))
    expect(rowsOf('-success:yes')).toEqual(rowsWhere((record) => !isSuccess(record)))
    expect(rowsOf('failed:yes')).toEqual(rowsWhere((record) => !finished(record)))
    expect(rowsOf('failed:time-out')).toEqual(
      rowsWhere(({ outcome }) => outcome.kind === 'failed' && outcome.error.code === 'time-out'),
    )
    expect(rowsOf('truncated:yes').length).toBeGreaterThan(0)
    expect(rowsOf('result:truncated')).toEqual(rowsOf('truncated:yes success:no'))
    expect(rowsOf('result:succeeded,fell-short,truncated')).toEqual(rowsOf('failed:no'))
    expect(rowsOf('version:guess-1')).toEqual(rowsWhere(({ policy }) => policy.version === 'guess-1'))
    expect(rowsOf('version:guess-*').length).toBeGreaterThan(rowsOf('version:guess-1').length)
    expect(rowsOf('version:*')).toEqual(rowsWhere(({ policy }) => policy.version !== undefined))
    expect(rowsOf('staleness=0')).toEqual(rowsOf('version:*'))
    expect(rowsOf('tag:WIDE split:train')).toEqual(
      rowsWhere(({ task }) => task.tags.includes('wide') && task.split === 'train'),
    )
    expect(rowsOf('tag:wide,odd -tag:o*')).toEqual(
      rowsWhere(({ task }) => task.tags.includes('wide') && !task.tags.includes('odd')),
    )
    expect(rowsOf('steps>3 steps<=6')).toEqual(rowsWhere(({ steps }) => steps.length > 3 && steps.length <= 6))
    expect(rowsOf('steps:4..6')).toEqual(rowsOf('steps>3 steps<=6'))
    expect(rowsOf('steps!=4..')).toEqual(rowsOf('steps<4'))
    expect(rowsOf('attempt:1,3')).toEqual(rowsWhere(({ attempt }) => attempt === 1 || attempt === 3))
    expect(rowsOf('player:noisy* ending:solved return<0.95').length).toBeGreaterThan(0)
    expect(rowsOf('took>0.001').length).toBeGreaterThan(0)
  })

  it('compares figures as they are shown, without the errors of a sum, and never an unknown one', () => {
    const sum = (record: (typeof records)[number]) =>
      Math.round(record.steps.reduce((total, { reward }) => total + (reward.terms.cost ?? 0), 0) * 100)
    const scored = (record: (typeof records)[number]) => record.outcome.kind === 'finished'
    expect(rowsOf('term.cost:-0.07')).toEqual(rowsWhere((record) => scored(record) && sum(record) === -7))
    expect(rowsOf('term.cost<-0.07')).toEqual(rowsWhere((record) => scored(record) && sum(record) < -7))
    expect(rowsOf('term.cost<=-0.07 term.cost>=-0.07')).toEqual(rowsOf('term.cost:-0.07..-0.07'))
    expect(rowsOf('cost>=0')).toEqual([])
    expect(rowsOf('cost!=1')).toEqual([])
    expect(rowsOf('tokens<1k')).toEqual([])
  })

  it('looks up what is not in the columns', () => {
    const lookups = {
      rowsWithText: (text: string) => new Set(text === 'lower half' ? [1, 3] : [3]),
      rowsOfTask: (prefix: string) => new Set(prefix === 'a' ? [0] : [3]),
      gradeOf: (grader: string, row: number) =>
        grader === 'polite' ? ([true, false, 'so so', 0.5][row] ?? null) : null,
    }
    expect(rowsOf('"lower half" task:a,b', lookups)).toEqual([3])
    expect(rowsOf('-"lower half" task:a', lookups)).toEqual([0])
    expect(rowsOf('grade.polite:no', lookups)).toEqual([1])
    expect(rowsOf('grade.polite:"so so",yes', lookups)).toEqual([0, 2])
    expect(rowsOf('grade.polite>0.4', lookups)).toEqual([3])
    expect(rowsOf('grade.polite!=yes', lookups)).toEqual([1, 2, 3])
    expect(needsOf(parseQuery('"lower half" task:a grade.polite:no steps>1'))).toEqual({
      columns: ['counts', 'steps'],
      texts: ['lower half'],
      tasks: ['a'],
      graders: ['polite'],
    })
  })

  it('says what the run lacks, and matches no row by it', () => {
    const { problems, matches } = compileQuery(parseQuery('term.speed>1'), episodes)
    expect(problems).toEqual([
      { from: 0, to: 12, message: 'There is no reward term "speed" in this run; there are: cost, solved.' },
    ])
    expect(records.some((_, row) => matches(row))).toBe(false)
    expect(compileQuery(parseQuery('words task:a grade.x:yes'), episodes).problems).toHaveLength(3)
    expect(() => compileQuery(parseQuery('steps>1'), { ...episodes, columns: {} })).toThrow('needs the column')
  })

  it('leaves out lines that do not count, unless it is asked for them', () => {
    const [record] = records.filter(({ outcome }) => outcome.kind === 'finished')
    const retried = createRowTable()
    retried.add({ ...record!, outcome: { kind: 'failed', error: { code: 'x', message: 'x' } }, returns: null })
    retried.add({ ...record!, try: 1 })
    const rows = (text: string) => {
      const { matches } = compileQuery(parseQuery(text), retried.columns())
      return [0, 1].filter(matches)
    }
    expect(rows('')).toEqual([1])
    expect(rows('try>0')).toEqual([1])
    expect(rows('counts:no')).toEqual([0])
    expect(rows('counts:yes,no')).toEqual([0, 1])
  })

  it('chooses rows whose figures are those of a report of their lines alone', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('success:no', 'tag:wide', 'steps>4', 'split:train return<0.97', '-tag:odd', 'failed:yes', ''),
        fc.integer({ min: 0, max: 9 }),
        (text, most) => {
          const rows = rowsOf(`${text} steps<=${most}`)
          const fold = createFold()
          for (const row of rows) fold.add(records[row]!)
          const { counts, success, returns } = fold.finish({ name: 'filtered' })
          const figures = rowFigures(episodes, rows)
          expect(figures.finished).toBe(counts.finished)
          expect(figures.failed).toBe(counts.failed)
          expect(figures.success.successes).toBe(success.overall.successes)
          // Sums in another order may differ in their last digit.
          expect(figures.success.low ?? -1).toBeCloseTo(success.overall.low ?? -1, 12)
          expect(figures.success.high ?? -1).toBeCloseTo(success.overall.high ?? -1, 12)
          expect(figures.unshaped?.mean ?? -1).toBeCloseTo(returns.unshaped?.mean.mean ?? -1, 12)
          expect(figures.unshaped?.low ?? -1).toBeCloseTo(returns.unshaped?.mean.low ?? -1, 12)
        },
      ),
    )
  })
})
