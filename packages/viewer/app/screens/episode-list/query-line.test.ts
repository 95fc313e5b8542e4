import { parseQuery } from '@episodic/report/query/parse-query'
import { describe, expect, it } from 'vitest'
import { markedParts } from './query-line.tsx'
import { chosenResults, toggleResult, withoutResults } from './result-chips.tsx'

describe('markedParts', () => {
  it('splits a query where its problems are', () => {
    const text = 'tag:wide stpes>10 "x'
    expect(markedParts(text, parseQuery(text).problems)).toEqual([
      { part: 'tag:wide ', wrong: false },
      { part: 'stpes', wrong: true },
      { part: '>10 ', wrong: false },
      { part: '"x', wrong: true },
    ])
    expect(markedParts('', [])).toEqual([])
  })
})

describe('toggleResult', () => {
  it('adds and removes a result, and leaves the rest of the query as it is', () => {
    const first = toggleResult('steps>3  "lower half"', 'failed')
    expect(first).toBe('result:failed steps>3  "lower half"')
    const second = toggleResult(first, 'succeeded')
    expect(second).toBe('result:succeeded,failed steps>3  "lower half"')
    expect(chosenResults(second)).toEqual(['succeeded', 'failed'])
    expect(toggleResult(toggleResult(second, 'failed'), 'succeeded')).toBe('steps>3  "lower half"')
    expect(withoutResults('stpes>1 result:failed tag:x')).toBe('stpes>1 tag:x')
    expect(withoutResults('-result:failed')).toBe('-result:failed')
  })
})
