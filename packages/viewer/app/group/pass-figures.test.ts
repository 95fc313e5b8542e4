import { describe, expect, it } from 'vitest'
import { passFigures } from './pass-figures.ts'

describe('passFigures', () => {
  it('counts all draws of k attempts', () => {
    // Of the 28 pairs out of 8 attempts with 5 successes, 10 are of two successes and 3 of none.
    const [one, two, four, all] = passFigures(8, 5)
    expect([one?.k, one?.any, one?.all]).toEqual([1, expect.closeTo(5 / 8, 12), expect.closeTo(5 / 8, 12)])
    expect([two?.k, two?.any, two?.all]).toEqual([2, expect.closeTo(25 / 28, 12), expect.closeTo(10 / 28, 12)])
    expect([four?.k, four?.any, four?.all]).toEqual([4, 1, expect.closeTo(5 / 70, 12)])
    expect([all?.k, all?.any, all?.all]).toEqual([8, 1, 0])
  })

  it('has none without an attempt', () => {
    expect(passFigures(0, 0)).toEqual([])
  })
})
