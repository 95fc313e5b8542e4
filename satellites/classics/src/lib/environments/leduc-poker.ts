import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'
import type { ClassicGame } from '../classic-game.ts'
import type { GameReference } from '../game-reference.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import { pokerReferences } from '../poker-references.ts'
import { cfrPlusPolicy } from '../solved-policy.ts'

const MOVES = { fold: 'f', call: 'c', raise: 'r' } as const
const ANTE = 1
const RAISES = { firstRound: 2, secondRound: 4 }
const MOST_RAISES = 2

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

/** One deal for each seed. */
export const tasks = plainTasks(environment, {
  prompt: 'Win as many chips as you can in the long run, against a player who does the same.',
  hints: ['A pair with the public card is rare and beats everything else.'],
})

/**
 * Plays either seat by the average strategy of CFR+ after 300 iterations, whose NashConv is 0.0047 chips. Solving takes
 * about a second, at the first episode.
 */
export const solver = cfrPlusPolicy(environment, 300)

/** CFR+ magnifies rounding: after more iterations than these, implementations differ in the third digit. */
export const references: readonly GameReference[] = [
  ...pokerReferences({
    informationSets: [468, 468],
    ends: 5_520,
    uniformValue: -5 / 64,
    nashConv: [
      ['uniform', 4.747222222],
      [{ solver: 'cfr', iterations: 1 }, 4.747222222],
      [{ solver: 'cfr', iterations: 10 }, 1.777157966],
      [{ solver: 'cfr', iterations: 100 }, 0.191432706],
      [{ solver: 'cfrPlus', iterations: 1 }, 4.747222222],
      [{ solver: 'cfrPlus', iterations: 10 }, 1.220877803],
      [{ solver: 'cfrPlus', iterations: 100 }, 0.02683199],
    ],
  }),
  {
    id: 'value',
    params: {},
    quantity: 'value of the game for the first seat',
    value: -0.085606,
    // The NashConv of the profile, which bounds how far its value is from that of the game.
    tolerance: 0.0048,
    source: 'published',
    how: { kind: 'game-value', profile: { solver: 'cfrPlus', iterations: 300 } },
  },
]

export const leducPoker: ClassicGame = { environment, tasks, solver, references }
export const measure = measureOf(leducPoker)

/** The two rounds of bets, each as the first letters of its moves: call (which also checks), raise and fold. */
interface Bets {
  readonly firstRound: string
  readonly secondRound: string
}

/** Returns what the first and the second player have put into the pot. */
function paid(bets: Bets): readonly [number, number] {
  const pot: [number, number] = [ANTE, ANTE]
  for (const round of ['firstRound', 'secondRound'] as const)
    for (const [at, move] of [...bets[round]].entries()) {
      if (move === MOVES.fold) continue
      pot[at % 2] = Math.max(...pot) + (move === MOVES.raise ? RAISES[round] : 0)
    }
  return pot
}

/** Lists what may be done after the moves of a round. */
function nextMoves(round: string): (keyof typeof MOVES)[] {
  const raises = round.split(MOVES.raise).length - 1
  return [
    ...(round.endsWith(MOVES.raise) ? (['fold'] as const) : []),
    'call',
    ...(raises < MOST_RAISES ? (['raise'] as const) : []),
  ]
}

/** Returns whether a round is over because its last bet was called, or both players checked. */
function isCalled(round: string): boolean {
  return round.length > 1 && round.endsWith(MOVES.call)
}
