import { defineGame } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { environment as kuhn } from '../../kuhn-poker.ts'
import { environment as throwingHands } from '../../rock-paper-scissors.ts'
import { gameTree } from '../../solve.ts'
import { coins } from './coins.fixture.ts'
import { stonesGame } from './stones.fixture.ts'

describe('gameTree', () => {
  const tree = gameTree(kuhn)
  const alwaysRock = () => [1, 0, 0]

  it('walks every course, with information sets of what a seat was shown and did', () => {
    expect(tree).toMatchObject({ nodes: 24, ends: 30 })
    expect(Map.groupBy(tree.decisions, ({ seat }) => seat).get('first')).toHaveLength(6)
    expect(Map.groupBy(tree.decisions, ({ seat }) => seat).get('second')).toHaveLength(6)
  })

  it('computes expected returns, best responses and the distance from an equilibrium', () => {
    const { first, second } = tree.value(tree.uniform)
    expect([first, second]).toEqual([expect.closeTo(1 / 8, 12), expect.closeTo(-1 / 8, 12)])
    const response = tree.bestResponse(tree.uniform, 'first')
    expect(response.value).toBeCloseTo(1 / 8 + 0.375, 12)
    expect(tree.value(response.profile).first).toBeCloseTo(response.value, 12)
    expect(tree.nashConv(tree.uniform)).toBeCloseTo(11 / 12, 12)
  })

  it('finds equilibria by regret minimization, as quickly as others do', () => {
    const distances = (solve: (iterations: number) => ReturnType<typeof tree.cfr>) =>
      [1, 10, 100].map((iterations) => tree.nashConv(solve(iterations)))
    const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 9))
    expect(distances(tree.cfr)).toEqual(close([11 / 12, 0.137397588, 0.016451955]))
    expect(distances(tree.cfrPlus)).toEqual(close([11 / 12, 0.065374181, 0.002388808]))
    expect(tree.value(tree.cfrPlus(1_000)).first).toBeCloseTo(-0.055555918, 9)
  })

  it('hides a sealed move from the other seats', () => {
    const hands = gameTree(throwingHands)
    expect(hands).toMatchObject({ nodes: 4, ends: 9 })
    expect(hands.decisions.map(({ seat }) => seat)).toEqual(['player_0', 'player_1'])
    expect(hands.nashConv(hands.uniform)).toBeCloseTo(0, 12)
    expect(hands.nashConv(alwaysRock)).toBe(2)
    expect(gameTree(throwingHands, { rounds: 2 }).decisions).toHaveLength(20)
  })

  it('lists what the seats may have earned in the end', () => {
    const endings = tree.endings(tree.uniform)
    expect(endings.map(({ returns: [first] }) => first).sort()).toEqual([-1, -2, 1, 2])
    expect(endings.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 12)
    expect(endings.reduce((sum, { courses }) => sum + courses, 0)).toBe(30)
    const earned = endings.reduce((sum, { returns, probability }) => sum + probability * (returns[0] as number), 0)
    expect(earned).toBeCloseTo(1 / 8, 12)
  })

  it('solves a game without hidden state backwards', () => {
    for (const stones of [1, 2, 3, 4, 5, 8, 21]) {
      const game = gameTree(stonesGame, { stones })
      const profile = game.backwardInduction()
      expect(game.value(profile).a).toBe(stones % 4 === 0 ? -1 : 1)
      expect(game.nashConv(profile)).toBe(0)
    }
    expect(() => tree.backwardInduction()).toThrow(/without knowing its position/)
  })

  it('gives a game up that is larger than allowed', () => {
    // Six deals lead to 18 later positions and 30 ends.
    expect(gameTree(kuhn, {}, { most: 48 }).nodes).toBe(24)
    expect(() => gameTree(kuhn, {}, { most: 47 })).toThrow(/more than 47 branches/)
  })

  it('rejects what it cannot solve', () => {
    const rejected = expect.objectContaining({ code: 'option-invalid' })
    expect(() => gameTree(coins((rng) => rng.pick([0, 1])))).toThrow(rejected)
    expect(() => tree.value(alwaysRock)).toThrow(rejected)
    expect(() => tree.bestResponse(tree.uniform, 'third')).toThrow(rejected)
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
