import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const HANDS = ['rock', 'paper', 'scissors'] as const
const Hand = z.enum(HANDS)

/** Rock, paper, scissors: both throw at once. */
export const hands = defineGame({
  name: 'hands',
  version: '1.0.0',
  description: 'Both throw at once. Paper beats rock, scissors beat paper, rock beats scissors.',
  seats: ['player_0', 'player_1'],
  utility: 'zero-sum',
  params: z.object({ rounds: z.int().min(1).default(1) }),
  state: {
    public: z.object({ rounds: z.array(z.tuple([Hand, Hand])) }),
    own: z.object({ hand: Hand.nullable() }),
    private: z.object({}),
  },
  start: () => ({ public: { rounds: [] }, own: { player_0: { hand: null }, player_1: { hand: null } }, private: {} }),
  turn: () => ['player_0', 'player_1'],
  observe: ({ public: { rounds } }) => `So far: ${rounds.map(([a, b]) => `${a}-${b}`).join(', ') || 'none'}.`,
  tools: ({ sealed }) => ({
    throw: sealed({
      description: 'Throw. Nobody sees it before both have thrown.',
      input: z.object({ hand: Hand }),
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
