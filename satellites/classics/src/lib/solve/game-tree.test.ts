import { defineGame } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { environment as kuhn } from '../../kuhn-poker.ts'
import { gameTree } from '../../solve.ts'
import { coins } from './coins.fixture.ts'
import { hands } from './hands.fixture.ts'
import { stonesGame } from './stones.fixture.ts'

describe('gameTree', () => {
  const tree = gameTree(kuhn)
  const alwaysRock = () => [1, 0, 0]

  it('walks every course, with information sets of what a seat was shown and did', () => {
    expect(tree).toMatchObject({ ends: 30 })
    expect(Map.groupBy(tree.decisions, ({ seat }) => seat).get('first')).toHaveLength(6)
    expect(Map.groupBy(tree.decisions, ({ seat }) => seat).get('second')).toHaveLength(6)
  })

  it('computes expected returns, and the distance from an equilibrium', () => {
    const { first, second } = tree.value(tree.uniform)
    expect([first, second]).toEqual([expect.closeTo(1 / 8, 12), expect.closeTo(-1 / 8, 12)])
    expect(tree.nashConv(tree.uniform)).toBeCloseTo(11 / 12, 12)
  })

  it('hides a sealed move from the other seats', () => {
    const tree = gameTree(hands)
    expect(tree).toMatchObject({ ends: 9 })
    expect(tree.decisions.map(({ seat }) => seat)).toEqual(['player_0', 'player_1'])
    expect(tree.nashConv(tree.uniform)).toBeCloseTo(0, 12)
    expect(tree.nashConv(alwaysRock)).toBe(2)
    expect(gameTree(hands, { rounds: 2 }).decisions).toHaveLength(20)
  })

  it('takes a position that hides nothing for one, however it was reached', () => {
    // 4 stones, then 3, 2 and 1 with each seat in turn but the one that began.
    expect(gameTree(stonesGame)).toMatchObject({ ends: 5 })
    expect(gameTree(stonesGame).decisions).toHaveLength(6)
  })

  it('gives a game up that is larger than allowed', () => {
    // Six deals lead to 18 later positions and 30 ends.
    expect(gameTree(kuhn, {}, { most: 48 }).ends).toBe(30)
    expect(() => gameTree(kuhn, {}, { most: 47 })).toThrow(/more than 47 branches/)
  })

  it('rejects what it cannot solve', () => {
    const rejected = expect.objectContaining({ code: 'option-invalid' })
    expect(() => gameTree(coins((rng) => rng.pick([0, 1])))).toThrow(rejected)
    expect(() => tree.value(alwaysRock)).toThrow(rejected)
    expect(() => gameTree(circling)).toThrow(/for ever/)
  })
})

/** Two players turn a wheel. */
const circling = defineGame({
  name: 'circling',
  version: '1.0.0',
  description: 'Turn the wheel.',
  seats: ['a', 'b'],
  state: { public: z.object({ at: z.int() }), own: z.object({}), private: z.object({}) },
  start: () => ({ public: { at: 0 }, own: { a: {}, b: {} }, private: {} }),
  turn: ({ at }) => (at === 0 ? 'a' : 'b'),
  observe: ({ public: { at } }) => `The wheel is at ${at}.`,
  tools: ({ tool }) => ({
    turn: tool({
      description: 'Turn it.',
      input: z.object({}),
      play({ state, say }) {
        state.public.at = 1 - state.public.at
        return say('It turns.')
      },
    }),
  }),
  rewards: { none: () => 0 },
})
