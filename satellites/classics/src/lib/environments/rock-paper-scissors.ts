import { defineTasks } from '@episodic/dataset'
import { randomPolicy } from '@episodic/env'
import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'
import type { Strategy } from '../classic.ts'
import type { ClassicGame } from '../classic-game.ts'
import type { GameReference } from '../game-reference.ts'
import { measureOf } from '../measure-reference.ts'

const HANDS = ['rock', 'paper', 'scissors'] as const
const Hand = z.enum(HANDS)

const MOST_ROUNDS = 1_000

/** Rock, paper, scissors: both throw at once. */
export const environment = defineGame({
  name: 'rock-paper-scissors',
  version: '1.0.0',
  description: 'Both throw at once. Paper beats rock, scissors beat paper, rock beats scissors.',
  seats: ['player_0', 'player_1'],
  utility: 'zero-sum',
  params: z.object({ rounds: z.int().min(1).max(MOST_ROUNDS).default(1) }),
  state: {
    public: z.object({ rounds: z.array(z.tuple([Hand, Hand])).max(MOST_ROUNDS) }),
    own: z.object({ hand: Hand.nullable() }),
    private: z.object({}),
  },
  /** Twice what the rounds take, so that there is room for refused moves. */
  limits: ({ rounds }) => ({ steps: 2 * rounds }),
  start: () => ({ public: { rounds: [] }, own: { player_0: { hand: null }, player_1: { hand: null } }, private: {} }),
  turn: () => ['player_0', 'player_1'],
  observe: ({ public: { rounds } }, params) =>
    `Round ${rounds.length + 1} of ${params.rounds}. So far: ${rounds.map(([a, b]) => `${a}-${b}`).join(', ') || 'none'}.`,
  legal: () => ({ throw: HANDS.map((hand) => ({ hand })) }),
  tools: ({ sealed }) => ({
    throw: sealed({
      description: 'Throw. Nobody sees it before both have thrown.',
      input: z.object({ hand: Hand.describe('What you throw.') }),
      play({ own, input }) {
        own.hand = input.hand
      },
    }),
  }),
  settle({ state, params, reveal, end }) {
    const [first, second] = [state.own.player_0.hand, state.own.player_1.hand]
    if (first && second) state.public.rounds.push([reveal(first), reveal(second)])
    for (const own of Object.values(state.own)) own.hand = null
    if (state.public.rounds.length === params.rounds) end('played')
  },
  rewards: {
    round({ seat, before, after }) {
      const last = after.public.rounds[before.public.rounds.length]
      if (!last) return 0
      const [mine, theirs] = seat === 'player_0' ? last : [last[1], last[0]]
      return [0, 1, -1][(HANDS.indexOf(mine) - HANDS.indexOf(theirs) + 3) % 3] as number
    },
  },
})

/** Matches of one to a hundred rounds. */
export const tasks = defineTasks({
  name: 'rock-paper-scissors',
  environment,
  generate({ difficulty }) {
    const rounds = Math.round(100 ** difficulty)
    return {
      prompt: `Win more rounds than you lose, of ${rounds}.`,
      hints: ['A player that throws all three hands equally often, at random, cannot be beaten.'],
      params: { rounds },
      difficulty,
      tags: [],
    }
  },
})

const strategies: { readonly [name: string]: Strategy } = {
  rock: () => ({ tool: 'throw', arguments: { hand: 'rock' } }),
}

/** Throws all hands equally often: the one equilibrium, for any number of rounds. */
export const solver = randomPolicy()

const OPEN_SPIEL = 'OpenSpiel 2.0.2'
const exact = { params: {}, tolerance: 'exact', source: OPEN_SPIEL } as const
const computed = { params: {}, tolerance: 1e-9, source: OPEN_SPIEL } as const

export const references: readonly GameReference[] = [
  {
    ...exact,
    id: 'information-sets',
    quantity: 'information sets of each seat, one round',
    value: [1, 1],
    how: { kind: 'information-sets' },
  },
  { ...exact, id: 'ends', quantity: 'ways in which one round ends', value: 9, how: { kind: 'ends' } },
  {
    ...computed,
    id: 'value',
    quantity: 'value of the game for the first seat',
    value: 0,
    how: { kind: 'game-value', profile: { solver: 'cfrPlus', iterations: 100 } },
  },
  {
    ...computed,
    id: 'uniform/nash-conv',
    quantity: 'NashConv of uniformly random hands',
    value: 0,
    how: { kind: 'nash-conv', profile: 'uniform' },
  },
  {
    ...computed,
    id: 'rock/nash-conv',
    quantity: 'NashConv of rock against rock',
    value: 2,
    how: { kind: 'nash-conv', profile: { strategy: 'rock' } },
  },
]

export const rockPaperScissors: ClassicGame = { environment, tasks, solver, references, strategies }
export const measure = measureOf(rockPaperScissors)
