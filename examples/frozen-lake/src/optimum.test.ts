import { describe, expect, it } from 'vitest'
import { gymnasiumLakes } from './gymnasium.fixture.ts'
import { MOVES } from './maps.ts'
import { findOptimum } from './optimum.ts'
import { DIRECTIONS } from './transitions.ts'

describe('findOptimum', () => {
  it.each(gymnasiumLakes)(
    'promises what its moves earn in Gymnasium: $map, slippery $slippery',
    ({ map, slippery, P }) => {
      const moves = MOVES[map]
      const optimum = findOptimum(map, slippery, moves)
      // The plan is computed backwards; this follows it forwards: the probability of each tile after each move.
      let likely: number[] = P.map((_, state) => (state === 0 ? 1 : 0))
      let earned = 0
      for (let left = moves; left > 0; left--) {
        const after = P.map(() => 0)
        for (const [state, mass] of likely.entries()) {
          if (mass === 0) continue
          const action = DIRECTIONS.indexOf(optimum.move(state, left))
          for (const [probability, next, reward, terminated] of P[state]?.[action] ?? []) {
            earned += mass * probability * reward
            if (!terminated) after[next] = (after[next] as number) + mass * probability
          }
        }
        likely = after
      }
      expect(earned).toBeCloseTo(optimum.value(0, moves), 12)
    },
  )

  it.each(gymnasiumLakes)(
    'cannot be bettered by another move at any time: $map, slippery $slippery',
    ({ map, slippery, P }) => {
      const moves = 40
      const optimum = findOptimum(map, slippery, moves)
      for (let left = 1; left <= moves; left++) {
        for (const [state, actions] of P.entries()) {
          const worths = actions.map((outcomes) =>
            outcomes.reduce(
              (sum, [probability, next, reward, terminated]) =>
                sum + probability * (reward + (terminated ? 0 : optimum.value(next, left - 1))),
              0,
            ),
          )
          expect(optimum.value(state, left)).toBeCloseTo(Math.max(...worths), 12)
        }
      }
    },
  )

  it.each([
    ['4x4', 6],
    ['8x8', 14],
  ] as const)('takes the shortest way on firm ice: %s in %i moves', (map, shortest) => {
    const optimum = findOptimum(map, false, MOVES[map])
    expect(optimum.value(0, shortest)).toBe(1)
    expect(optimum.value(0, shortest - 1)).toBe(0)
  })

  it('approaches the known optimum without a step limit', () => {
    // Without a step limit, the optimal probability of crossing the 4x4 lake is 14/17.
    expect(findOptimum('4x4', true, 3_000).value(0, 3_000)).toBeCloseTo(14 / 17, 9)
  })

  it('throws for a state that it has not planned', () => {
    const optimum = findOptimum('4x4', true, 10)
    expect(() => optimum.move(0, 11)).toThrow(RangeError)
    expect(() => optimum.value(16, 1)).toThrow(RangeError)
  })
})
