import { defineEnvironment } from '@episodic/mcp-server'
import type { Action, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import { played } from '../played.ts'
import type { Measure, Reference } from '../reference.ts'
import { strategyPolicy } from '../strategy-policy.ts'
import { addCard, drawCard, formatCard, handOf } from './blackjack/cards.ts'
import { drawTotal } from './blackjack/dealer.ts'

const NATURAL_PAYS = 1.5

/** Blackjack with an infinite deck: Gymnasium's Blackjack-v1, and example 5.1 of Sutton and Barto. */
export const environment = defineEnvironment({
  name: 'blackjack',
  version: '1.0.0',
  description: 'Get closer to 21 than the dealer, and not over it.',
  handle: 'hand',
  params: z.object({ naturals: z.enum(['win', 'pay', 'count']).default('win') }),
  state: {
    public: z.object({
      sum: z.int().min(4).max(31).describe('The sum of your cards.'),
      usableAce: z.boolean().describe('Whether one of your aces counts as 11 in that sum.'),
      natural: z.boolean().describe('Whether your first two cards are 21.'),
      dealer: z.int().min(1).max(10).describe('The card that the dealer shows; an ace is 1.'),
    }),
    private: z.object({ hole: z.int().min(1).max(10) }),
  },
  start({ rng }) {
    const hand = handOf(drawCard(rng), drawCard(rng))
    const dealer = drawCard(rng)
    return { public: { ...hand, natural: hand.sum === 21, dealer }, private: { hole: drawCard(rng) } }
  },
  observe: ({ sum, usableAce, natural, dealer }) =>
    `Your cards sum up to ${sum}${usableAce ? ', with an ace that counts as 11' : ''}.${natural ? ' That is a natural.' : ''} The dealer shows ${formatCard(dealer)}.`,
  legal: () => ({ play: [{ move: 'stick' }, { move: 'hit' }] }),
  tools: ({ tool }) => ({
    play: tool({
      description:
        'Hit to draw a card: over 21 you lose. Or stick: then the dealer draws up to 17 or more, and the higher sum wins.',
      input: z.object({ move: z.enum(['stick', 'hit']).describe('Whether you stick or hit.') }),
      play({ state, input, params, rng, end, reveal, say }) {
        const mine = state.public
        if (input.move === 'hit') {
          const card = drawCard(rng)
          Object.assign(mine, addCard(mine, card), { natural: false })
          if (mine.sum <= 21) return say(`You drew ${formatCard(card)}.`)
          end('bust')
          return say(`You drew ${formatCard(card)}: that is ${mine.sum}, more than 21. You lose.`)
        }
        const dealt = handOf(mine.dealer, reveal(state.private.hole))
        const dealer = drawTotal(dealt, rng)
        const result = resultOf(mine, dealer, params.naturals === 'win' && dealt.sum < 21)
        end(result)
        return say(
          `The dealer's other card is ${formatCard(state.private.hole)}, and the dealer ${dealer > 21 ? 'goes over 21' : `ends with ${dealer}`}. ${RESULTS[result]}`,
        )
      },
    }),
  }),
  rewards: {
    result({ before, params, end }) {
      if (end?.reason === 'won') return params.naturals === 'pay' && before.public.natural ? NATURAL_PAYS : 1
      return end?.reason === 'lost' || end?.reason === 'bust' ? -1 : 0
    },
  },
  success: ({ end }) => end.reason === 'won',
})

const RESULTS = { won: 'You win.', lost: 'You lose.', drawn: 'Nobody wins.' }

/** `precedence`: a natural beats every hand of the dealer's. */
function resultOf(
  { sum, natural }: { readonly sum: number; readonly natural: boolean },
  dealer: number,
  precedence: boolean,
): keyof typeof RESULTS {
  if (dealer > 21 || dealer < sum || (natural && precedence)) return 'won'
  return dealer === sum ? 'drawn' : 'lost'
}

/** One hand each. */
export const tasks = plainTasks(environment, {
  prompt: 'Play one hand of blackjack. Hit or stick, so that you win as often as you can.',
  hints: ['The deck is infinite: cards that you have seen do not become rarer.', 'The dealer must draw up to 17.'],
  params: { naturals: 'win' },
})

/** The hands of figure 5.2 of Sutton and Barto: the best strategy there is. */
function sticksByTheBook(sum: number, usableAce: boolean, dealer: number): boolean {
  if (usableAce) return sum >= 19 || (sum === 18 && dealer >= 2 && dealer <= 8)
  if (sum >= 17) return true
  if (sum >= 13) return dealer >= 2 && dealer <= 6
  return sum === 12 && dealer >= 4 && dealer <= 6
}

function strategy(sticks: (sum: number, usableAce: boolean, dealer: number) => boolean) {
  return ({ sum, usableAce, dealer }: JsonObject): Action => ({
    tool: 'play',
    arguments: { move: sticks(sum as number, usableAce as boolean, dealer as number) ? 'stick' : 'hit' },
  })
}

/** Strategies with published returns. */
const strategies = {
  'figure-5.2': strategy(sticksByTheBook),
  'stick-on-20': strategy((sum) => sum >= 20),
  'as-the-dealer': strategy((sum) => sum >= 17),
}

/** Plays the best strategy, that of figure 5.2 of Sutton and Barto. */
export const solver = strategyPolicy('figure-5.2', strategies['figure-5.2'])

/** Expected returns by the treatment of naturals, from exact sums over all cards. */
const RETURNS = {
  // Exactly -3954908734551683826282634489 / 13^26.
  win: { optimal: -0.043113105413, stickOn20: -0.350111146088, dealer: -0.075851660035, uniform: -0.394174557022 },
  pay: { optimal: -0.025729182789, stickOn20: -0.332727223465, dealer: -0.058467737411, uniform: -0.38548259571 },
  count: { optimal: -0.046555977067, stickOn20: -0.353554017742, dealer: -0.079294531688, uniform: -0.395895992849 },
}

const RULES = 'exact, from the rules of Gymnasium 1.4.0'
const BOOK = 'Sutton and Barto, Reinforcement Learning, 2nd edition, figure 5.2'

/**
 * Gymnasium's Blackjack-v1 with `sab=True` (naturals win), `natural=True` (naturals pay) and neither (naturals count as
 * 21).
 */
export const references: readonly Reference[] = Object.entries(RETURNS).flatMap(([naturals, returns]) => {
  const exact = (
    id: string,
    quantity: string,
    value: number,
    policy: (Measure & { kind: 'expected-return' })['policy'],
    source = RULES,
  ): Reference => ({
    id: `${naturals}/${id}`,
    params: { naturals },
    quantity,
    value,
    tolerance: 1e-9,
    source,
    how: { kind: 'expected-return', policy, steps: null },
  })
  const sums = { variant: naturals, params: { naturals }, tolerance: 'interval', source: RULES } as const
  return [
    exact('optimal', 'optimal return', returns.optimal, 'optimal'),
    exact(
      'figure-5.2',
      'return of the strategy of figure 5.2',
      returns.optimal,
      { strategy: 'figure-5.2' },
      `strategy: ${BOOK}`,
    ),
    exact('stick-on-20', 'return of sticking on 20 or 21', returns.stickOn20, { strategy: 'stick-on-20' }),
    exact('as-the-dealer', 'return of playing as the dealer', returns.dealer, { strategy: 'as-the-dealer' }),
    exact('uniform', 'return of uniformly random actions', returns.uniform, 'uniform'),
    played('solver', { ...sums, value: returns.optimal }),
    played('random', { ...sums, value: returns.uniform }),
  ]
})

export const blackjack: Classic = { environment, tasks, solver, references, strategies, hasSecrets: true }
export const measure = measureOf(blackjack)
