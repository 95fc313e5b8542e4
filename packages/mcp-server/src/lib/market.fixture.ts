import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** A market whose prices change outside, and where orders go out. What the exchange answers is up to the test. */
export interface Exchange {
  /** Gives the fee of an order, or throws. */
  order: (shares: number, signal: AbortSignal) => number | Promise<number>
  /** Orders that went out. */
  orders: number
}

/** An exchange that takes a fee of 1 an order. */
export function createExchange(): Exchange {
  return { orders: 0, order: () => 1 }
}

/** What a market is played with besides: a secret that an event tells, so that it has to be withheld. */
export const INSIDE_TIP = 'the inside tip of the market'

export function createMarket(exchange: Exchange = createExchange()) {
  return defineEnvironment({
    name: 'market',
    version: '1.0.0',
    description: 'Buy shares while their price changes outside.',
    handle: false,
    params: z.object({ price: z.int().min(1).default(10) }),
    state: {
      public: z.object({ price: z.int(), shares: z.int(), spent: z.int() }),
      private: z.object({ drift: z.int(), log: z.array(z.string()) }),
    },
    limits: { steps: 100 },
    history: { entries: 4, bytes: 1_000 },
    start: ({ params: { price } }) => ({
      public: { price, shares: 0, spent: 0 },
      private: { drift: 0, log: [] },
    }),
    observe: ({ price, shares }) => `The price is ${price}. You have ${shares} shares.`,
    events: ({ event }) => ({
      'price-changed': event({
        description: 'The price of a share changes.',
        data: z.object({ price: z.int().min(1) }),
        apply({ state, data, rng, elapse, say }) {
          state.private.drift += rng.int(-3, 3)
          state.private.log.push(`${state.public.price}>${data.price}`)
          state.public.price = data.price
          elapse(10)
          say(`The price is now ${data.price}.`)
        },
      }),
      'order-filled': event({
        description: 'Nobody is told of it.',
        data: z.object({}),
        apply: ({ state }) => void state.private.log.push('filled'),
      }),
      'market-closed': event({
        description: 'The episode is over.',
        data: z.object({}),
        apply({ end, say }) {
          say('The market has closed.')
          end('market-closed')
        },
      }),
      tip: event({
        description: 'Somebody tells what nobody may know.',
        data: z.object({}),
        apply: ({ say }) => say(`Psst: ${INSIDE_TIP}.`),
      }),
      broken: event({
        description: 'Fails after it has changed something.',
        data: z.object({}),
        apply({ state }) {
          state.public.price = 0
          throw new Error('the ticker tore')
        },
      }),
    }),
    tools: ({ tool }) => ({
      buy: tool({
        description: 'Buys shares at the present price.',
        input: z.object({ shares: z.int().min(1).max(100) }),
        play({ state, input, rng, say, refuse, end }) {
          const cost = state.public.price * input.shares
          if (cost > 10_000) return refuse('Too dear.')
          state.private.drift += rng.int(0, 9)
          state.public.shares += input.shares
          state.public.spent += cost
          if (state.public.shares >= 1_000) end('all-bought')
          return say(`Bought ${input.shares}.`)
        },
      }),
      quote: tool({
        description: 'Asks the exchange for its fee. Asking twice does no harm.',
        input: z.object({ shares: z.int() }),
        prepared: z.object({ fee: z.int() }),
        prepareSeconds: 5,
        prepare: async ({ input, signal }) => ({ fee: await exchange.order(input.shares, signal) }),
        play: ({ prepared, say }) => say(`The fee is ${prepared.fee}.`),
      }),
      order: tool({
        description: 'Sends an order to the exchange.',
        input: z.object({ shares: z.int().min(1) }),
        output: z.object({ fee: z.int() }),
        effect: 'external',
        prepared: z.object({ fee: z.int() }),
        prepareSeconds: 5,
        async prepare({ input, signal }) {
          exchange.orders += 1
          return { fee: await exchange.order(input.shares, signal) }
        },
        play({ state, input, prepared, say }) {
          if (prepared.fee < 0) throw new Error('an exchange that pays for orders')
          state.public.shares += input.shares
          state.public.spent += state.public.price * input.shares + prepared.fee
          return say(`Ordered ${input.shares} for a fee of ${prepared.fee}.`, { fee: prepared.fee })
        },
      }),
    }),
    rewards: {
      value: ({ before, after }) => after.public.shares - before.public.shares,
      news: ({ events }) => events.length,
      closed: ({ end }) => (end?.reason === 'market-closed' ? 5 : 0),
    },
    potential: ({ public: { shares } }) => shares,
    secrets: () => [INSIDE_TIP],
  })
}
