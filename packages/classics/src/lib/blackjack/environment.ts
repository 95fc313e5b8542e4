import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'
import { addCard, drawCard, handOf, nameOf } from './cards.ts'
import { drawTotal } from './dealer.ts'

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
    `Your cards sum up to ${sum}${usableAce ? ', with an ace that counts as 11' : ''}.${natural ? ' That is a natural.' : ''} The dealer shows ${nameOf(dealer)}.`,
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
          if (mine.sum <= 21) return say(`You drew ${nameOf(card)}.`)
          end('bust')
          return say(`You drew ${nameOf(card)}: that is ${mine.sum}, more than 21. You lose.`)
        }
        const dealt = handOf(mine.dealer, reveal(state.private.hole))
        const dealer = drawTotal(dealt, rng)
        const result = resultOf(mine, dealer, params.naturals === 'win' && dealt.sum < 21)
        end(result)
        return say(
          `The dealer's other card is ${nameOf(state.private.hole)}, and the dealer ${dealer > 21 ? 'goes over 21' : `ends with ${dealer}`}. ${RESULTS[result]}`,
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
