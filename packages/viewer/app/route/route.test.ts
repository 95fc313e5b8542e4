import { SEARCH_FIELDS } from '@episodic/report/view/search-hit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parentRoute } from './parent-route.ts'
import { EPISODE_TABS, formatRoute, parseRoute, type Route, RUN_TABS } from './route.ts'

const text = fc.string({ unit: 'grapheme' })
const name = fc.string({ unit: 'grapheme', minLength: 1 })
const count = fc.nat(999_999_999)
const runNames = fc.array(fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 1 }))
const anyRoute: fc.Arbitrary<Route> = fc.oneof(
  fc.record({ screen: fc.constant('runs' as const), query: text }),
  fc.record({ screen: fc.constant('run' as const), run: name, tab: fc.constantFrom(...RUN_TABS) }),
  fc.record(
    {
      screen: fc.constant('episodes' as const),
      run: name,
      query: text,
      sort: text,
      columns: fc.array(name, { minLength: 1 }),
    },
    { requiredKeys: ['screen', 'run', 'query', 'sort'] },
  ),
  fc.record({ screen: fc.constant('group' as const), run: name, task: name }),
  fc.record(
    {
      screen: fc.constant('episode' as const),
      run: name,
      task: name,
      attempt: count,
      try: fc.option(count),
      step: fc.option(count),
      tab: fc.constantFrom(...EPISODE_TABS),
      beside: fc.tuple(count, fc.option(count)).map(([one, other]) => (other === null ? `${one}` : `${one}.${other}`)),
      seat: name,
    },
    { requiredKeys: ['screen', 'run', 'task', 'attempt', 'try', 'step', 'tab'] },
  ),
  fc.record({ screen: fc.constant('set' as const), set: name }),
  fc.record({ screen: fc.constant('compare' as const), runs: runNames, base: text }),
  fc.record(
    {
      screen: fc.constant('search' as const),
      query: text,
      run: text,
      fields: fc
        .subarray([...SEARCH_FIELDS], { minLength: 1 })
        .map((fields) => SEARCH_FIELDS.filter((field) => fields.includes(field))),
    },
    { requiredKeys: ['screen', 'query', 'run'] },
  ),
  fc.record(
    {
      screen: fc.constant('label' as const),
      run: name,
      grader: fc.oneof(fc.constant(''), name),
      scale: fc.oneof(fc.constant('boolean'), name),
      rubric: name,
    },
    { requiredKeys: ['screen', 'run', 'grader', 'scale'] },
  ),
)

/** Addresses that are nearly right. */
const anyAddress = fc.oneof(
  text,
  fc
    .array(
      fc.oneof(
        text,
        fc.constantFrom('', '#', '/', '?', '&', '=', '%', '%zz', 'r', 't', 'q=', 'runs', 'compare', 'search', 'label'),
        fc.constantFrom(
          'step=',
          'columns=',
          '1',
          '1.2',
          '-1',
          '99999999999',
          'episodes',
          '__proto__',
          'constructor',
          '\ud800',
        ),
      ),
      { maxLength: 12 },
    )
    .map((parts) => `#/${parts.join('/')}`),
)

describe('parseRoute', () => {
  it('returns the route whose address it is', () => {
    fc.assert(
      fc.property(anyRoute, (route) => {
        expect(parseRoute(formatRoute(route))).toEqual(route)
      }),
      { numRuns: 1_000 },
    )
  })

  it('never throws, whatever stands in an address', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        const route = parseRoute(address)
        // What was read is written and read again as the same.
        expect(parseRoute(formatRoute(route))).toEqual(route)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('formatRoute', () => {
  it('numbers steps as they are shown, from 1', () => {
    const route = parseRoute('#/r/run/t/task/2.1?step=7&tab=state&beside=3')
    expect(route).toEqual({
      screen: 'episode',
      run: 'run',
      task: 'task',
      attempt: 2,
      try: 1,
      step: 6,
      tab: 'state',
      beside: '3',
    })
    expect(formatRoute(route)).toBe('#/r/run/t/task/2.1?step=7&tab=state&beside=3')
  })
})

describe('parentRoute', () => {
  it('ends at the list of runs', () => {
    fc.assert(
      fc.property(anyRoute, (route) => {
        let [up, levels]: [Route | null, number] = [route, 0]
        while (up && up.screen !== 'runs') {
          up = parentRoute(up)
          levels += 1
        }
        expect(up?.screen).toBe('runs')
        expect(levels).toBeLessThanOrEqual(3)
      }),
    )
  })
})
