import { z } from 'zod'
import { defineContext } from './define-context.ts'
import { defineConversation } from './define-conversation.ts'
import type { IntentCandidate, Interpreter } from './interpreter.ts'

/** What all contexts of the fixture share: the city that was spoken of last, and how many seats are left. */
export const shared = {
  public: z.object({ city: z.string().nullable().default(null) }),
  private: z.object({ seats: z.int().default(3) }),
}

const Route = { from: z.string().optional(), to: z.string().optional() }

/** Fills slots over several turns, hears of events, hides a number, and returns what was bought. */
export const booking = defineContext({
  name: 'booking',
  description: 'your booking',
  data: z.object({
    from: z.string().nullable().default(null),
    to: z.string().nullable().default(null),
    passengers: z.int().min(1).max(9).default(1),
    price: z.int().default(100),
  }),
  hidden: z.object({ offers: z.int().default(0) }),
  shared,
  intents: {
    'book-flight': z.object(Route).describe('book a flight'),
    'set-route': z.object(Route).describe('say from where to where'),
    'set-passengers': z.object({ count: z.int() }).describe('say how many fly'),
    pay: z.object({}),
  },
  events: {
    'price-changed': z.object({ price: z.int() }),
    'sold-out': z.object({}),
  },
  initial: 'collecting',
  opens: { 'book-flight': { effect: ({ data, slots }) => Object.assign(data, slots) } },
  on: {
    'set-route': {
      target: 'collecting',
      effect({ data, slots, shared }) {
        Object.assign(data, slots)
        if (slots.to !== undefined) shared.public.city = slots.to
      },
    },
    'set-passengers': [
      { guard: ({ slots }) => slots.count > 9, effect: ({ say }) => say('At most 9 can fly.') },
      {
        effect({ data, slots, say }) {
          data.passengers = slots.count
          say(`${slots.count} fly.`)
        },
      },
    ],
    'price-changed': {
      effect({ data, hidden, event, say }) {
        data.price = event.price
        hidden.offers += 1
        say(`The price is now ${event.price}.`)
      },
    },
    'sold-out': {
      target: 'sold-out',
      effect: ({ comeForward }) => comeForward(),
    },
  },
  states: {
    collecting: {
      always: [{ guard: isComplete, target: 'confirming' }],
      prompt: ({ data }) => (data.from === null ? 'Where do you fly from?' : 'Where do you fly to?'),
    },
    confirming: {
      on: {
        pay: {
          guard: ({ shared }) => shared.private.seats > 0,
          target: 'paid',
          effect({ shared }) {
            shared.private.seats -= 1
          },
        },
      },
      prompt: ({ data }) => `${data.from} to ${data.to} for ${data.price}: shall I book?`,
    },
    'sold-out': { prompt: () => 'This flight is sold out. Where else?' },
    paid: {
      final: true,
      entry: ({ hidden, say, reveal }) => say(`Booked, after ${reveal(hidden.offers)} changes of price.`),
    },
  },
  topics: ({ to }) => (to === null ? [] : [`to:${to}`]),
  resume: ({ data, say }) => say(`Back to your booking, ${data.from ?? '?'} to ${data.to ?? '?'}.`),
  result: ({ data: { from, to, passengers } }) => ({ from, to, passengers }),
})

function isComplete({ data }: { data: { from: string | null; to: string | null } }): boolean {
  return data.from !== null && data.to !== null
}

/** Answers at once, or asks for the city and waits. */
export const weather = defineContext({
  name: 'weather',
  description: 'the weather',
  data: z.object({ city: z.string().nullable().default(null), day: z.int().default(0) }),
  shared,
  intents: {
    'ask-weather': z.object({ city: z.string().optional() }).describe('hear about the weather'),
    'next-day': z.object({}),
  },
  initial: 'asking',
  opens: {
    'ask-weather': {
      effect({ data, slots }) {
        data.city = slots.city ?? null
      },
    },
    'next-day': {
      effect({ data, previous }) {
        data.city = previous?.city ?? null
        data.day = (previous?.day ?? 0) + 1
      },
    },
  },
  states: {
    asking: {
      always: [{ guard: ({ data }) => data.city !== null, target: 'answered' }],
      on: {
        'ask-weather': {
          effect({ data, slots }) {
            data.city = slots.city ?? null
          },
        },
      },
      prompt: () => 'The weather where?',
    },
    answered: { final: true, entry: ({ data, say }) => say(`It is sunny in ${data.city} on day ${data.day}.`) },
  },
})

/** Stays open until its case is closed. */
export const support = defineContext({
  name: 'support',
  description: 'support',
  data: z.object({ topic: z.string().nullable().default(null) }),
  intents: { 'ask-refund': z.object({}).describe('get a refund'), 'close-case': z.object({}) },
  events: { 'price-changed': z.object({ price: z.int() }) },
  initial: 'open',
  opens: { 'ask-refund': {} },
  states: {
    open: { on: { 'close-case': { target: 'closed' } }, prompt: () => 'What went wrong?' },
    closed: { final: true },
  },
})

/** Reads `intent score {slots}; …`, so that a test says what was understood. */
export const literal: Interpreter = {
  name: 'literal',
  interpret({ text }) {
    const candidates = text.split(';').flatMap((part): IntentCandidate[] => {
      const [, intent, score, slots] = /^\s*([\w-]+)\s+([\d.]+)\s*(\{.*\})?\s*$/.exec(part) ?? []
      return intent ? [{ intent, score: Number(score), slots: JSON.parse(slots ?? '{}') }] : []
    })
    return { candidates }
  },
}

export const travel = defineConversation({
  name: 'travel',
  contexts: [booking, weather, support],
  interpreter: literal,
  shared,
})
