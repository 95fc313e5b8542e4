import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** What an event of the theatre tells and nobody may know. */
export const LEAD = 'the name of the lead'

/** A box office whose sales make things happen: the last seats cost more, and with none left the house is sold out. */
export const theatre = defineEnvironment({
  name: 'theatre',
  version: '1.0.0',
  description: 'Sell the seats of a theatre.',
  handle: false,
  params: z.object({ seats: z.int().min(1).max(100).default(6) }),
  state: {
    public: z.object({ seats: z.int(), price: z.int(), earned: z.int() }),
    private: z.object({ demand: z.int(), log: z.array(z.string()) }),
  },
  limits: { steps: 100 },
  history: { entries: 4, bytes: 1_000 },
  start: ({ params: { seats } }) => ({
    public: { seats, price: 10, earned: 0 },
    private: { demand: 0, log: [] },
  }),
  observe: ({ seats, price }) => `${seats} seats are left, at ${price}.`,
  events: ({ event }) => ({
    'price-changed': event({
      description: 'A seat costs something else from now on.',
      data: z.object({ price: z.int().min(1), why: z.string().default('no reason') }),
      apply({ state, data, rng, now, elapse, say }) {
        state.private.demand += rng.int(1, 9)
        state.private.log.push(`${state.public.price}>${data.price} at ${now}`)
        state.public.price = data.price
        elapse(10)
        say(`A seat is ${data.price} now, for ${data.why}.`)
      },
    }),
    'sold-out': event({
      description: 'The last seat is gone.',
      data: z.object({}),
      apply({ say, end }) {
        say('The house is sold out.')
        end('sold-out')
      },
    }),
    rumour: event({
      description: 'Somebody tells what nobody may know.',
      data: z.object({}),
      apply: ({ say }) => say(`They say: ${LEAD}.`),
    }),
    fire: event({
      description: 'Fails after it has changed something.',
      data: z.object({}),
      apply({ state }) {
        state.public.seats = 0
        throw new Error('the curtain burns')
      },
    }),
  }),
  tools: ({ tool }) => ({
    sell: tool({
      description: 'Sells seats at the present price.',
      input: z.object({ seats: z.int().min(1).max(20) }),
      play({ state, input, rng, elapse, publish, say, refuse }) {
        if (input.seats > state.public.seats) return refuse('There are not as many seats.')
        state.public.seats -= input.seats
        state.public.earned += input.seats * state.public.price
        state.private.demand += rng.int(1, 9)
        elapse(1)
        if (state.public.seats <= 2) publish('price-changed', { price: state.public.price + 5, why: 'the last seats' })
        if (state.public.seats === 0) publish('sold-out', {})
        return say(`Sold ${input.seats}.`)
      },
    }),
    fumble: tool({
      description: 'Makes a mistake with events.',
      input: z.object({
        how: z.enum(['type', 'data', 'json', 'many', 'fire', 'refusal', 'throw', 'edit', 'rumour', 'ends']),
      }),
      play({ state, input: { how }, publish, say, refuse, end }) {
        state.public.earned = -1
        if (how !== 'ends') publish('price-changed', { price: 99 })
        if (how === 'type') publish('encore' as never, {} as never)
        if (how === 'data') publish('price-changed', { price: 0 })
        if (how === 'json') publish('sold-out', { at: -0 } as never)
        if (how === 'many') for (let i = 0; i < 16; i++) publish('price-changed', { price: i + 1 })
        if (how === 'fire') publish('fire', {})
        if (how === 'rumour') publish('rumour', {})
        if (how === 'throw') throw new Error('the clerk fainted')
        if (how === 'edit') {
          const data = { price: 50 }
          publish('price-changed', data)
          data.price = 1
        }
        if (how === 'ends') {
          end('closed')
          publish('sold-out', {})
        }
        return how === 'refusal' ? refuse('Not today.') : say('Done.')
      },
    }),
  }),
  rewards: {
    price: ({ before, after }) => after.public.price - before.public.price,
    news: ({ events }) => events.length,
    sold: ({ end }) => (end?.reason === 'sold-out' ? 5 : 0),
  },
  potential: ({ public: { seats } }) => -seats,
  secrets: () => [LEAD],
})
