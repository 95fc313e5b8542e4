import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatOrder, nextOrder, parseOrder, sortRows } from './sort-rows.ts'

const anyKeys = fc.array(fc.oneof(fc.constantFrom(0, 1, -1, Number.NaN), fc.double()), { maxLength: 60 })

describe('sortRows', () => {
  it('orders rows by their numbers, unknown ones last, equal ones as they were', () => {
    fc.assert(
      fc.property(anyKeys, fc.boolean(), (keys, descending) => {
        const rows = Uint32Array.from(keys, (_, i) => keys.length - 1 - i)
        const sorted = [...sortRows(rows, (row) => keys[row] as number, descending)]
        const expected = [...rows].sort((a, b) => {
          const [x, y] = [keys[a] as number, keys[b] as number]
          if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y))
          return x === y ? 0 : x < y === descending ? 1 : -1
        })
        expect(sorted).toEqual(expected)
      }),
    )
  })
})

describe('nextOrder', () => {
  it('goes from the highest first over the lowest first back to the order of the file', () => {
    const first = nextOrder(null, 'return')
    expect(formatOrder(first)).toBe('-return')
    const second = nextOrder(first, 'return')
    expect(formatOrder(second)).toBe('return')
    expect(nextOrder(second, 'return')).toBeNull()
    expect(formatOrder(nextOrder(first, 'term.cost'))).toBe('-term.cost')
    for (const text of ['', 'steps', '-steps', '-term.a b']) expect(formatOrder(parseOrder(text))).toBe(text)
  })
})
