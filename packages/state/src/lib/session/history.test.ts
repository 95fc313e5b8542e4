import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { appendHistory, type History } from './history.ts'

const anyBounds = fc.record({ entries: fc.nat(6), bytes: fc.nat(120) })
const anyEntries = fc.array(fc.record({ text: fc.string({ maxLength: 30 }) }), { minLength: 1, maxLength: 20 })

describe('appendHistory', () => {
  it('adds at the end and drops the oldest beyond the bounds', () => {
    const bounds = { entries: 3, bytes: 1_000 }
    let history: History = []
    for (const n of [1, 2, 3, 4, 5]) history = appendHistory(history, { n }, bounds)
    expect(history).toEqual([{ n: 3 }, { n: 4 }, { n: 5 }])
  })

  it('leaves the history that it was given alone', () => {
    const before: History = [{ n: 1 }]
    appendHistory(before, { n: 2 }, { entries: 1, bytes: 100 })
    expect(before).toEqual([{ n: 1 }])
  })

  it('keeps neither an entry that alone is too large nor anything older', () => {
    expect(appendHistory([{ n: 1 }], { text: 'x'.repeat(100) }, { entries: 9, bytes: 50 })).toEqual([])
  })

  it('is always the longest tail within the bounds', () => {
    fc.assert(
      fc.property(anyEntries, anyBounds, (entries, bounds) => {
        let history: History = []
        for (const entry of entries) history = appendHistory(history, entry, bounds)
        const size = (tail: History) => tail.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0)
        const fits = (tail: History) => tail.length <= bounds.entries && size(tail) <= bounds.bytes
        expect(fits(history)).toBe(true)
        expect(history).toEqual(entries.slice(entries.length - history.length))
        const dropped = entries[entries.length - history.length - 1]
        if (dropped) expect(fits([dropped, ...history])).toBe(false)
      }),
    )
  })
})
