import { describe, expect, it } from 'vitest'
import { transitionTable, valueIteration } from '../../solve.ts'
import { coins } from './coins.fixture.ts'

const held = (count: number) => ({ public: { coins: count }, private: {} })
const act = (action: string) => ({ tool: 'act', arguments: { action } })

describe('valueIteration', () => {
  // One coin with 3 in 4: at 2 coins a toss is worth 9/4 and a stop 2, at 3 a stop is better.
  const table = transitionTable(coins((rng) => (rng.chance(0.75) ? 1 : 0)))

  it('finds the best actions and what they earn', () => {
    const values = valueIteration(table)
    expect(values.start).toBeCloseTo(3 * 0.75 ** 3, 12)
    expect([0, 1, 2, 3].map((count) => values.action(held(count)).arguments.action)).toEqual([
      'toss',
      'toss',
      'toss',
      'stop',
    ])
  })

  it('plans for the steps that are left', () => {
    const values = valueIteration(table, { steps: 2 })
    // One toss and one stop.
    expect(values.start).toBeCloseTo(0.75, 12)
    expect(values.action(held(2), 1)).toEqual(act('stop'))
    expect(() => values.action(held(0), 3)).toThrow(RangeError)
    expect(() => values.action(held(4))).toThrow(RangeError)
  })

  it('stops where equally good episodes are shorter', () => {
    const even = transitionTable(coins(() => 1))
    expect(valueIteration(even).action(held(3))).toEqual(act('stop'))
    const worthless = transitionTable(coins(() => 0))
    expect(valueIteration(worthless).action(held(0))).toEqual(act('toss'))
  })

  it('computes what random actions earn', () => {
    const uniform = valueIteration(table, { policy: 'uniform', steps: 2 })
    expect(uniform.start).toBeCloseTo(0.5 * 0.75 * 0.5, 12)
    expect(() => uniform.action(held(0))).toThrow(RangeError)
  })
})
