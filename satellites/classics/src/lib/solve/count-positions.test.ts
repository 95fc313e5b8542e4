import { describe, expect, it } from 'vitest'
import { environment as kuhn } from '../../kuhn-poker.ts'
import { countPositions } from '../../solve.ts'
import { stonesGame } from './stones.fixture.ts'

describe('countPositions', () => {
  it('counts positions and the courses that lead to them, step by step', () => {
    // 4 stones; then 3, 2 or 1; then 2, 1 or none; then 1 or none; then none.
    expect(countPositions(stonesGame)).toEqual({ positions: [1, 3, 3, 2, 1], courses: [1, 3, 6, 4, 1] })
    // Each of 6 deals is played in 2, 4, 3 and 2 ways to each step, where those that are over are not played on.
    expect(countPositions(kuhn)).toEqual({ positions: [6, 12, 24, 12], courses: [6, 12, 24, 12] })
  })

  it('stops after as many steps as it is asked for', () => {
    expect(countPositions(stonesGame, { params: { stones: 1_000 }, plies: 2 })).toEqual({
      positions: [1, 3, 5],
      courses: [1, 3, 9],
    })
  })

  it('counts positions once that are equal in their key', () => {
    expect(countPositions(kuhn, { keyOf: (state) => state.public }).positions).toEqual([1, 2, 4, 2])
  })

  it('gives a game up that has more positions than allowed', () => {
    expect(() => countPositions(stonesGame, { most: 9 })).toThrow(expect.objectContaining({ code: 'option-invalid' }))
    expect(countPositions(stonesGame, { most: 10 }).positions).toHaveLength(5)
  })
})
