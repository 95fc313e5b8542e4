import { describe, expect, it } from 'vitest'
import { compareFigures } from './against.ts'

describe('compareFigures', () => {
  it('compares every number of both trees, as the median of the ratios of the rounds', () => {
    const rounds = [
      [
        { rate: { http: 30 }, ok: true, left: 0 },
        { rate: { http: 20 }, ok: false, left: 0 },
      ],
      [
        { rate: { http: 10 }, ok: true, left: 0 },
        { rate: { http: 5 }, ok: true, left: 0 },
      ],
      [
        { rate: { http: 40 }, ok: true, left: 0 },
        { rate: { http: 40 }, ok: true, left: 0 },
      ],
    ] as const
    expect(compareFigures(rounds)).toEqual({
      both: { 'rate.http': { here: 30, there: 20, ratio: 1.5 }, left: { here: 0, there: 0, ratio: 1 } },
      onlyHere: [],
      onlyThere: [],
    })
  })

  it('names the figures that one tree alone has', () => {
    const { both, onlyHere, onlyThere } = compareFigures([
      [
        { a: 1, b: 2 },
        { b: 1, c: 3 },
      ],
    ])
    expect(Object.keys(both)).toEqual(['b'])
    expect([onlyHere, onlyThere]).toEqual([['a'], ['c']])
  })
})
