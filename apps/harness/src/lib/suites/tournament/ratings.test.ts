import { createRng } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Points, ratePlayers } from './ratings.ts'
import { seatingsOf } from './seatings.ts'

const duel = (wins: number, losses: number): Points => [
  [0, wins],
  [losses, 0],
]
const ratingsOf = (...given: Parameters<typeof ratePlayers>) => ratePlayers(...given).map(({ rating }) => rating)

describe('ratePlayers', () => {
  it('gives two players the log-odds of their points, with one drawn match added', () => {
    fc.assert(
      fc.property(fc.nat({ max: 500 }), fc.nat({ max: 500 }), (wins, losses) => {
        fc.pre(wins + losses > 0)
        const [one, other] = ratingsOf([duel(wins, losses)], 2, 1)
        expect(other).toBeCloseTo(1_000, 6)
        expect((one as number) - 1_000).toBeCloseTo(400 * Math.log10((wins + 0.5) / (losses + 0.5)), 4)
      }),
    )
  })

  it('finds the strengths of players who meet often, also if not all pairs meet', () => {
    const strengths = [1, 2, 4, 0.5]
    const all = strengths.map((_, i) => i)
    // In the ring of four nobody meets the player opposite.
    const points = all.map((i) =>
      all.map((j) =>
        i === j || Math.abs(i - j) === 2
          ? 0
          : (1e6 * (strengths[i] as number)) / ((strengths[i] as number) + (strengths[j] as number)),
      ),
    )
    const expected = strengths.map((strength) => 1_000 + 400 * Math.log10(strength))
    for (const [i, rating] of ratingsOf([points], 4, 0).entries()) expect(rating).toBeCloseTo(expected[i] as number, 1)
  })

  it('has the mean 1,000 without an anchor, and depends on no order', () => {
    const anyTask = fc.array(fc.array(fc.nat({ max: 9 }), { minLength: 3, maxLength: 3 }), {
      minLength: 3,
      maxLength: 3,
    })
    fc.assert(
      fc.property(fc.array(anyTask, { minLength: 1, maxLength: 4 }), (tasks) => {
        const ratings = ratingsOf(tasks, 3, null)
        expect(ratings.reduce((sum, rating) => sum + rating, 0) / 3).toBeCloseTo(1_000, 6)
        const reversed = ratingsOf([...tasks].reverse(), 3, null)
        for (const [i, rating] of ratings.entries()) expect(reversed[i]).toBeCloseTo(rating, 9)
      }),
      { numRuns: 20 },
    )
  })

  it('has intervals that hold the strength in 95 % of samples', () => {
    const rng = createRng('coverage')
    const truth = 1_000 + 400 * Math.log10(2)
    const holds = Array.from({ length: 100 }, () => {
      const tasks = Array.from({ length: 60 }, () => (rng.chance(2 / 3) ? duel(1, 0) : duel(0, 1)))
      const [rating] = ratePlayers(tasks, 2, 1)
      return Number(rating?.low) <= truth && truth <= Number(rating?.high)
    })
    expect(holds.filter(Boolean).length).toBeGreaterThanOrEqual(88)
  })

  it('has no interval for one task', () => {
    expect(ratePlayers([duel(3, 1)], 2, 0)[1]).toMatchObject({ low: null, high: null })
  })
})

describe('seatingsOf', () => {
  it('seats every group of players in every order', () => {
    expect(seatingsOf(['a', 'b', 'c'], 2)).toEqual([
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'a'],
      ['b', 'c'],
      ['c', 'a'],
      ['c', 'b'],
    ])
    expect(seatingsOf(['a', 'b', 'c', 'd'], 3)).toHaveLength(24)
  })
})
