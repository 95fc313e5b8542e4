import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBoundedMap } from './bounded-map.ts'

describe('createBoundedMap', () => {
  it('keeps the smallest names, each with its complete value', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 2 })), fc.integer({ min: 1, max: 5 }), (names, limit) => {
        const map = createBoundedMap(limit, () => ({ count: 0 }))
        for (const name of names) {
          const value = map.of(name)
          if (value) value.count += 1
        }
        const kept = [...new Set(names)].sort().slice(0, limit)
        expect(map.entries()).toEqual(kept.map((name) => [name, { count: names.filter((n) => n === name).length }]))
      }),
    )
  })
})
