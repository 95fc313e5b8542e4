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
    expect(values.value(held(2))).toBeCloseTo(2.25, 12)
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
    expect(() => values.value(held(0), 3)).toThrow(RangeError)
    expect(() => values.value(held(4))).toThrow(RangeError)
  })

  it('stops where equally good episodes are shorter', () => {
    const even = transitionTable(coins(() => 1))
    expect(valueIteration(even).action(held(3))).toEqual(act('stop'))
    const worthless = transitionTable(coins(() => 0))
    expect(valueIteration(worthless).action(held(0))).toEqual(act('toss'))
  })

  it('discounts, and goes on for ever where asked', () => {
    const { start } = valueIteration(table, { steps: Number.POSITIVE_INFINITY, discount: 0.5 })
    // After a toss that wins, stopping with 1 coin earns 1, and tossing on 0.5 × 0.75 × 2 at most.
    expect(start).toBeCloseTo(0.5 * 0.75, 12)
  })

  it('follows a given policy, and the uniform one', () => {
    const bold = valueIteration(table, { policy: ({ coins: count }) => act(count === 2 ? 'stop' : 'toss') })
    expect(bold.start).toBeCloseTo(2 * 0.75 ** 2, 12)
    const uniform = valueIteration(table, { policy: 'uniform', steps: 2 })
    expect(uniform.start).toBeCloseTo(0.5 * 0.75 * 0.5, 12)
    expect(() => uniform.action(held(0))).toThrow(RangeError)
    expect(() => valueIteration(table, { policy: () => act('run') })).toThrow(
      expect.objectContaining({ code: 'option-invalid' }),
    )
  })
})
