import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seedFor } from './seed.ts'

describe('seedFor', () => {
  it('gives what it has always given', () => {
    expect(seedFor('run-1', 'task', 7, 'attempt', 0)).toBe('1dee27afca00aabc6d21d1eb')
  })

  it('gives 24 hexadecimal digits, the same for the same path', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.oneof(fc.string(), fc.nat())), (root, path) => {
        expect(seedFor(root, ...path)).toMatch(/^[0-9a-f]{24}$/)
        expect(seedFor(root, ...path)).toBe(seedFor(root, ...path))
      }),
    )
  })

  it('gives different paths different seeds, however their names run together', () => {
    const anyName = fc.string({ unit: fc.constantFrom('a', 'b', '1', ':', '/'), maxLength: 6 })
    const anyPath = fc.tuple(anyName, fc.array(anyName, { maxLength: 4 }))
    fc.assert(
      fc.property(anyPath, anyPath, ([root, path], [otherRoot, otherPath]) => {
        const same = JSON.stringify([root, ...path]) === JSON.stringify([otherRoot, ...otherPath])
        expect(seedFor(root, ...path) === seedFor(otherRoot, ...otherPath)).toBe(same)
      }),
      { numRuns: 1_000 },
    )
    expect(seedFor('a', 'bc')).not.toBe(seedFor('ab', 'c'))
    expect(seedFor('a')).not.toBe(seedFor('a', ''))
    expect(seedFor('a', '1:b')).not.toBe(seedFor('a', '1', 'b'))
  })
})
