import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'
import { isCalled, MOVES, nextMoves, paid } from './bets.ts'

/** Three ranks in two suits. */
const CARDS = ['Js', 'Jh', 'Qs', 'Qh', 'Ks', 'Kh'] as const
const RANKS = 'JQK'
const Card = z.enum(CARDS)
type Card = z.output<typeof Card>

/** Leduc hold'em (Southey and others, 2005): two rounds of bets, with a public card between them. */
export const environment = defineGame({
  name: 'leduc-poker',
  version: '1.0.0',
  description:
    'Two jacks, two queens and two kings; each player gets one and antes 1. There are two rounds of bets, with raises of 2, then of 4, at most two in a round; between them a public card is shown. A pair with it wins, else the higher rank; equal ranks split the pot.',
  seats: ['first', 'second'],
  utility: 'zero-sum',
  state: {
    /** The moves of each round by their first letters, and the card that is shown after the first round. */
    public: z.object({ firstRound: z.string().max(4), secondRound: z.string().max(4), card: Card.nullable() }),
    own: z.object({ card: Card }),
    private: z.object({}),
  },
  /** Twice what a hand takes, so that there is room for refused moves. */
  limits: { steps: 8 },
  start({ rng }) {
    const [first = 'Js', second = 'Js'] = rng.shuffle(CARDS)
    return {
      public: { firstRound: '', secondRound: '', card: null },
      own: { first: { card: first }, second: { card: second } },
      private: {},
    }
  },
  turn: ({ firstRound, secondRound, card }) =>
    (card ? secondRound : firstRound).length % 2 === 0 ? 'first' : 'second',
  observe({ seat, public: bets, own }) {
    const [first, second] = paid(bets)
    const [mine, theirs] = seat === 'first' ? [first, second] : [second, first]
    const rounds = `First round: ${named(bets.firstRound)}.${bets.card ? ` The public card is ${bets.card}. Second round: ${named(bets.secondRound)}.` : ''}`
    return `You hold ${own.card}. ${rounds} You have put in ${mine}, the other player ${theirs}.`
  },
  legal: ({ public: { firstRound, secondRound, card } }) => ({
    act: nextMoves(card ? secondRound : firstRound).map((move) => ({ move })),
  }),
  tools: ({ tool }) => ({
    act: tool({
      description:
        'Fold to a raise, call (a raise; else it is a check), or raise (by 2 in the first round, by 4 in the second).',
      input: z.object({ move: z.enum(['fold', 'call', 'raise']).describe('call also checks.') }),
      play({ state, input: { move }, rng, reveal, end, say, refuse }) {
        const { public: table, own } = state
        const round = table.card ? 'secondRound' : 'firstRound'
        const moves = nextMoves(table[round])
        if (!moves.includes(move)) return refuse(`You cannot ${move} now. You can ${moves.join(' or ')}.`)
        table[round] += MOVES[move]
        if (move === 'fold') {
          end('fold')
          return say('You fold. The other player wins the pot.')
        }
        if (!isCalled(table[round])) return say(`You ${move}.`)
        if (round === 'firstRound') {
          table.card = reveal(rng.pick(CARDS.filter((card) => card !== own.first.card && card !== own.second.card)))
          return say(`You call. The public card is ${table.card}.`)
        }
        end('showdown')
        return say(`You call. The first player held ${reveal(own.first.card)}, the second ${reveal(own.second.card)}.`)
      },
    }),
  }),
  rewards: {
    chips({ seat, after: { public: table, own }, end }) {
      if (end?.kind !== 'terminated') return 0
      const [first, second] = paid(table)
      const round = table.card ? table.secondRound : table.firstRound
      if (round.endsWith(MOVES.fold)) {
        const folded = round.length % 2 === 1 ? 'first' : 'second'
        return seat === folded ? -Math.min(first, second) : Math.min(first, second)
      }
      const lead = strength(own.first.card, table.card) - strength(own.second.card, table.card)
      return Math.sign(lead) * (seat === 'first' ? second : -first) || 0
    },
  },
})

/** A pair with the public card is above every rank alone. */
function strength(card: Card, shown: Card | null): number {
  return RANKS.indexOf(card.charAt(0)) + (card.charAt(0) === shown?.charAt(0) ? RANKS.length : 0)
}

function named(moves: string): string {
  const names = Object.entries(MOVES)
  return [...moves].map((letter) => names.find(([, short]) => short === letter)?.[0]).join(', ') || 'no moves yet'
}
