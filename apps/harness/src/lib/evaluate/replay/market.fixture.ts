import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** The fees of {@link environment}, from a counter that a replay cannot reproduce. */
let asked = 0

/** Counts the requests to the outside. */
export const timesAsked = (): number => asked

/** A market: prices change by events, fees are requested from outside, and it may close. */
export const environment = defineEnvironment({
  name: 'market',
  version: '1.0.0',
  description: 'Buy while the price changes.',
  params: z.object({}),
  state: { public: z.object({ price: z.int(), shares: z.int(), paid: z.int() }), private: z.object({ mood: z.int() }) },
  limits: { steps: 6 },
  start: ({ rng }) => ({ public: { price: rng.int(5, 15), shares: 0, paid: 0 }, private: { mood: 0 } }),
  observe: ({ price, shares }) => `The price is ${price}, and you have ${shares}.`,
  events: ({ event }) => ({
    'price-changed': event({
      description: 'The price changes, and the mood with it.',
      data: z.object({ price: z.int() }),
      apply({ state, data, rng, elapse, say }) {
        state.public.price = data.price
        state.private.mood = rng.int(1, 1_000_000)
        elapse(5)
        say(`Now ${data.price}.`)
      },
    }),
    closed: event({ description: 'It closes.', data: z.object({}), apply: ({ end }) => end('closed') }),
  }),
  tools: ({ tool }) => ({
    buy: tool({
      description: 'Buys one.',
      input: z.object({}),
      prepared: z.object({ fee: z.int() }),
      prepare: () => ({ fee: ++asked }),
      play({ state, prepared, rng, say }) {
        state.public.shares += 1
        state.public.paid += state.public.price + prepared.fee
        state.private.mood += rng.int(1, 9)
        return say(`The fee was ${prepared.fee}.`)
      },
    }),
  }),
  rewards: {
    bought: ({ before, after }) => after.public.shares - before.public.shares,
    news: ({ events }) => events.length,
  },
  potential: ({ public: { shares } }) => shares,
})
