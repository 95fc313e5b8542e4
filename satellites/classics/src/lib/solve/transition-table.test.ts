import { createHash } from 'node:crypto'
import type { Rng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { environment as kuhn } from '../../kuhn-poker.ts'
import { transitionTable } from '../../solve.ts'
import { coins } from './coins.fixture.ts'

/** What tossing once, without a coin, may give. */
function tosses(draw: (rng: Rng) => number) {
  const { states, outcomes } = transitionTable(coins(draw))
  return outcomes[0]?.[0]?.map(({ probability, next }) => [states[next]?.public.coins, probability])
}

describe('transitionTable', () => {
  it('has one line for each outcome, in the order of states, actions and draws', () => {
    const table = transitionTable(coins((rng) => rng.pick([0, 1])))
    expect(table.states.map((state) => state.public)).toEqual([0, 1, 2, 3].map((held) => ({ coins: held })))
    expect(table.actions[0]?.map((action) => action.arguments)).toEqual([{ action: 'toss' }, { action: 'stop' }])
    expect(table.text.split('\n').slice(0, 6)).toEqual([
      '0 0 0.5 0 0 1',
      '0 0 0.5 1 0 0',
      '0 1 1 0 0 1',
      '1 0 0.5 0 0 1',
      '1 0 0.5 2 0 0',
      '1 1 1 1 1 1',
    ])
    expect(table.sha256).toBe(createHash('sha256').update(table.text).digest('hex'))
    expect(table).toMatchObject({ steps: 10, starts: [{ probability: 1, state: 0 }] })
  })

  it('goes through every draw but that of a float', () => {
    expect(tosses((rng) => rng.int(0, 2))).toEqual([0, 1, 2].map((won) => [won, 1 / 3]))
    expect(tosses((rng) => (rng.chance(0.25) ? 2 : 1))).toEqual([
      [2, 0.25],
      [1, 0.75],
    ])
    expect(tosses((rng) => (rng.chance(1) ? 2 : 1))).toEqual([[2, 1]])
    expect(tosses((rng) => rng.stream('other').pick([1, 2, 2, 2]))).toEqual([
      [1, 0.25],
      [2, 0.75],
    ])
    expect(tosses((rng) => rng.shuffle([0, 1, 2])[0] as number)).toEqual(
      [0, 0, 1, 1, 2, 2].map((won) => [won, expect.closeTo(1 / 6, 15)]),
    )
    expect(() => tosses((rng) => rng.float())).toThrow(expect.objectContaining({ code: 'option-invalid' }))
    expect(() => tosses((rng) => rng.int(0, 1e9))).toThrow(expect.objectContaining({ code: 'option-invalid' }))
  })

  it('numbers given states in their order, unreached ones too, and rejects a way out of them', () => {
    const world = coins((rng) => rng.pick([0, 2]))
    const states = [3, 2, 1, 0].map((held) => ({ public: { coins: held }, private: {} }))
    expect(transitionTable(world, { states }).text.split('\n')[0]).toBe('0 0 0.5 3 0 1')
    expect(() => transitionTable(world, { states: states.slice(1) })).toThrow(RangeError)
  })

  it('takes states for one that are equal in what decides', () => {
    const world = coins((rng) => rng.pick([0, 1]))
    const table = transitionTable(world, { keyOf: ({ public: { coins: held } }) => Math.min(2, held as number) })
    expect(table.states).toHaveLength(3)
    expect(table.numberOf({ public: { coins: 3 }, private: {} })).toBe(2)
  })

  it('is of one player: it rejects several seats', () => {
    expect(() => transitionTable(kuhn)).toThrow(expect.objectContaining({ code: 'option-invalid' }))
  })
})
