import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'
import type { ClassicGame } from '../classic-game.ts'
import type { GameReference } from '../game-reference.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import { pokerReferences } from '../poker-references.ts'
import { cfrPlusPolicy } from '../solved-policy.ts'

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

/** One deal for each seed. */
export const tasks = plainTasks(environment, {
  prompt: 'Win as many chips as you can in the long run, against a player who does the same.',
  hints: ['A player that bets only with the best card is never called.'],
})

/** Plays either seat by the average strategy of CFR+ after 1,000 iterations. */
export const solver = cfrPlusPolicy(environment, 1_000)

/** The value of the game, −1/18, is Kuhn's: A Simplified Two-Person Poker (1950). */
export const references: readonly GameReference[] = [
  ...pokerReferences({
    informationSets: [6, 6],
    ends: 30,
    uniformValue: 1 / 8,
    nashConv: [
      ['uniform', 11 / 12],
      [{ solver: 'cfr', iterations: 1 }, 0.916666667],
      [{ solver: 'cfr', iterations: 10 }, 0.137397588],
      [{ solver: 'cfr', iterations: 100 }, 0.016451955],
      [{ solver: 'cfr', iterations: 1_000 }, 0.001875233],
      [{ solver: 'cfrPlus', iterations: 1 }, 0.916666667],
      [{ solver: 'cfrPlus', iterations: 10 }, 0.065374181],
      [{ solver: 'cfrPlus', iterations: 100 }, 0.002388808],
      [{ solver: 'cfrPlus', iterations: 1_000 }, 0.000174731],
    ],
  }),
  {
    id: 'cfr-plus-1000/value',
    params: {},
    quantity: 'expected return of the first seat, CFR+ after 1,000 iterations',
    value: -0.055555918,
    tolerance: 1e-9,
    source: 'CFR+ of OpenSpiel 2.0.2',
    how: { kind: 'game-value', profile: { solver: 'cfrPlus', iterations: 1_000 } },
  },
  {
    id: 'value',
    params: {},
    quantity: 'value of the game for the first seat',
    value: -1 / 18,
    tolerance: 1e-6,
    source: 'Kuhn 1950',
    how: { kind: 'game-value', profile: { solver: 'cfrPlus', iterations: 1_000 } },
  },
]

export const kuhnPoker: ClassicGame = { environment, tasks, solver, references }
export const measure = measureOf(kuhnPoker)
