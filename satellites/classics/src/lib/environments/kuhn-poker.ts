import { definePolicy } from '@episodic/env'
import { defineGame } from '@episodic/mcp-server'
import { createRng, type JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import type { Measure, Reference } from '../reference.ts'
import type { Profile } from '../solve/game-tree.ts'

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

/**
 * How often each seat bets in an equilibrium (Kuhn 1950), by its card and the moves so far. Of the equilibria it is the
 * one in which the first seat bluffs most.
 */
const BETS: { readonly [held: string]: number } = {
  ...{ J: 1 / 3, Q: 0, K: 1, Jpb: 0, Qpb: 2 / 3, Kpb: 1 },
  ...{ Jp: 1 / 3, Qp: 0, Kp: 1, Jb: 0, Qb: 1 / 3, Kb: 1 },
}

function betChance(seen: JsonObject | null): number {
  const { own, moves } = (seen ?? {}) as { own?: { card: string }; moves?: string }
  return BETS[`${own?.card}${moves}`] ?? 0
}

const equilibrium: Profile = ({ actions, observation }) => {
  const chance = betChance(observation.structured)
  return actions.map(({ arguments: { move } }) => (move === 'bet' ? chance : 1 - chance))
}

/** Plays either seat of an equilibrium. */
export const solver = definePolicy({
  name: 'equilibrium',
  start({ seed }) {
    const rng = createRng(seed)
    return ({ structured }) => ({
      tool: 'act',
      arguments: { move: rng.chance(betChance(structured)) ? 'bet' : 'pass' },
    })
  },
})

const fact = (id: string, quantity: string, value: Reference['value'], source: string, how: Measure) =>
  // The figures are sums of products of chances.
  ({ id, params: {}, quantity, value, tolerance: 1e-12, source, how }) satisfies Reference
const SPIEL = 'OpenSpiel 2.0.2'
const KUHN = 'Kuhn, A Simplified Two-Person Poker (1950)'

export const references: readonly Reference[] = [
  fact('information-sets', 'information sets of each seat', [6, 6], SPIEL, { kind: 'information-sets' }),
  fact('ends', 'ways in which a hand ends', 30, SPIEL, { kind: 'ends' }),
  fact('uniform/value', 'return of random play', 1 / 8, SPIEL, { kind: 'game-value', profile: 'uniform' }),
  fact('uniform/nash-conv', 'NashConv of random play', 11 / 12, SPIEL, { kind: 'nash-conv', profile: 'uniform' }),
  fact('value', 'value of the game', -1 / 18, KUHN, { kind: 'game-value', profile: 'equilibrium' }),
  fact('nash-conv', 'NashConv of the equilibrium', 0, KUHN, { kind: 'nash-conv', profile: 'equilibrium' }),
]

export const kuhnPoker: Classic = { environment, tasks, solver, references, equilibrium }
export const measure = measureOf(kuhnPoker)
