import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const CARDS = ['J', 'Q', 'K'] as const

/** The orders of moves after which a hand is over, with who wins: by a fold, or with the higher card. */
const ENDS: { readonly [moves: string]: { readonly stake: number; readonly winner: 'first' | 'second' | 'higher' } } = {
  pp: { stake: 1, winner: 'higher' },
  bp: { stake: 1, winner: 'first' },
  pbp: { stake: 1, winner: 'second' },
  bb: { stake: 2, winner: 'higher' },
  pbb: { stake: 2, winner: 'higher' },
}

/** Kuhn poker (1950): the smallest game with hidden cards and bets. */
export const environment = defineGame({
  name: 'kuhn-poker',
  version: '1.0.0',
  description:
    'Cards J, Q and K; each player gets one and antes 1. Pass, or bet 1 more; a bet is called with a bet, or folded to with a pass. The higher card wins the pot.',
  seats: ['first', 'second'],
  utility: 'zero-sum',
  state: {
    /** The moves so far, by their first letters. */
    public: z.object({ moves: z.string().max(3) }),
    own: z.object({ card: z.enum(CARDS) }),
    private: z.object({}),
  },
  limits: { steps: 2 },
  start({ rng }) {
    const [first = 'J', second = 'J'] = rng.shuffle(CARDS)
    return { public: { moves: '' }, own: { first: { card: first }, second: { card: second } }, private: {} }
  },
  turn: ({ moves }) => (moves.length === 1 ? 'second' : 'first'),
  observe: ({ public: { moves }, own }) =>
    `You hold ${own.card}. ${moves ? `Moves so far: ${[...moves].map((move) => (move === 'p' ? 'pass' : 'bet')).join(', ')}` : 'No moves so far'}.`,
  tools: ({ tool }) => ({
    act: tool({
      description: 'Pass (check, or fold to a bet) or bet (bet 1, or call a bet).',
      input: z.object({ move: z.enum(['pass', 'bet']).describe('pass checks or folds, bet bets or calls.') }),
      play({ state, input, reveal, end, say }) {
        state.public.moves += input.move.charAt(0)
        const over = ENDS[state.public.moves]
        if (!over) return say(`You ${input.move}.`)
        if (over.winner !== 'higher') {
          end('fold')
          return say(`You ${input.move}. The ${over.winner} player wins the pot.`)
        }
        end('showdown')
        return say(
          `The first player held ${reveal(state.own.first.card)}, the second ${reveal(state.own.second.card)}.`,
        )
      },
    }),
  }),
  rewards: {
    chips({ seat, after, end }) {
      const over = ENDS[after.public.moves]
      if (!over || end?.kind !== 'terminated') return 0
      const { first, second } = after.own
      const higher = CARDS.indexOf(first.card) > CARDS.indexOf(second.card) ? 'first' : 'second'
      return seat === (over.winner === 'higher' ? higher : over.winner) ? over.stake : -over.stake
    },
  },
})
