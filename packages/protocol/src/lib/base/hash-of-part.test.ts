import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hashOfPart } from './hash-of-part.ts'

const bills = (...ids: string[]) => ({
  bills: { march: { id: ids[0] ?? '', amount: 12.5 }, april: { id: ids[1] ?? '', amount: 3 } },
  lines: [
    { id: ids[2] ?? '', plan: 'basic' },
    { id: ids[3] ?? '', plan: 'large' },
  ],
})

describe('hashOfPart', () => {
  it('is the SHA-256 of the canonical JSON, whatever the order of the keys', () => {
    const expected = createHash('sha256').update('{"a":[1,null],"b":"é"}').digest('hex')
    expect(hashOfPart({ b: 'é', a: [1, null] })).toBe(expected)
    expect(hashOfPart({ a: [1, null], b: 'é' })).toBe(expected)
  })

  it('leaves out what lies at the paths, in objects and lists, and nothing else', () => {
    const without = ['bills.*.id', 'lines.*.id']
    expect(hashOfPart(bills('a', 'b', 'c', 'd'), { without })).toBe(hashOfPart(bills('w', 'x', 'y', 'z'), { without }))
    expect(hashOfPart(bills('a'), { without })).toBe(
      hashOfPart({
        bills: { march: { amount: 12.5 }, april: { amount: 3 } },
        lines: [{ plan: 'basic' }, { plan: 'large' }],
      }),
    )
    expect(hashOfPart(bills('a'), { without: ['bills.march.id'] })).not.toBe(
      hashOfPart(bills('a', 'b'), { without: ['bills.march.id'] }),
    )
    expect(hashOfPart(bills('a'), { without: ['bills'] })).toBe(hashOfPart({ lines: bills('a').lines }))
  })

  it('leaves out items of a list by their index, and nothing at a path that leads nowhere', () => {
    expect(hashOfPart(['a', 'b', 'c'], { without: ['1'] })).toBe(hashOfPart(['a', 'c']))
    expect(hashOfPart(bills(), { without: ['bills.may.id', 'lines.0.id.deeper'] })).toBe(hashOfPart(bills()))
    expect(hashOfPart('text', { without: ['*'] })).toBe(hashOfPart('text'))
  })

  it('throws for what is not JSON', () => {
    expect(() => hashOfPart({ at: Number.NaN })).toThrow(TypeError)
  })
})
