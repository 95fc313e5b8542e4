import { z } from 'zod'
import { oneOf } from './choice-entity.ts'
import { defineContext } from './define-context.ts'
import { defineConversation } from './define-conversation.ts'
import { createRulesInterpreter } from './rules-interpreter.ts'

const City = z.enum(['Lahore', 'Dubai', 'Doha'])
const Route = z.object({ from: City.optional(), to: City.optional() })

export const booking = defineContext({
  name: 'booking',
  description: 'your booking',
  data: z.object({
    from: City.nullable().default(null),
    to: City.nullable().default(null),
    price: z.int().default(240),
  }),
  intents: {
    'book-flight': Route.describe('book a flight'),
    'give-route': Route.describe('say from where to where'),
    confirm: z.object({}).describe('agree'),
  },
  events: { 'price-changed': z.object({ price: z.int() }) },
  opens: { 'book-flight': { effect: ({ data, slots }) => Object.assign(data, slots) } },
  initial: 'collecting',
  states: {
    collecting: {
      always: [
        {
          guard: function isComplete({ data }) {
            return data.from !== null && data.to !== null
          },
          target: 'confirming',
        },
      ],
      prompt: ({ data }) => (data.from === null ? 'Where do you fly from?' : 'Where do you fly to?'),
    },
    confirming: {
      on: { confirm: { target: 'paid' } },
      prompt: ({ data }) => `${data.from} to ${data.to} for $${data.price}. Shall I book it?`,
    },
    paid: { final: true, entry: ({ say }) => say('Booked.') },
  },
  on: {
    'give-route': { target: 'collecting', effect: ({ data, slots }) => Object.assign(data, slots) },
    'price-changed': {
      effect({ data, event, say }) {
        data.price = event.price
        say(`The price is now $${event.price}.`)
      },
    },
  },
  resume: ({ data, say }) => say(`Back to your booking, ${data.from ?? '…'} to ${data.to ?? '…'}.`),
  result: ({ data: { from, to, price } }) => ({ from, to, price }),
})

const weather = defineContext({
  name: 'weather',
  description: 'the weather',
  data: z.object({ city: City.nullable().default(null) }),
  intents: { 'ask-weather': z.object({ city: City.optional() }).describe('hear about the weather') },
  opens: { 'ask-weather': { effect: ({ data, slots }) => Object.assign(data, slots) } },
  initial: 'asking',
  states: {
    asking: {
      always: [
        {
          guard: function isKnown({ data }) {
            return data.city !== null
          },
          target: 'answered',
        },
      ],
      on: { 'ask-weather': { effect: ({ data, slots }) => Object.assign(data, slots) } },
      prompt: () => 'The weather where?',
    },
    answered: { final: true, entry: ({ data, say }) => say(`It is sunny in ${data.city}.`) },
  },
})

const city = oneOf({ Lahore: ['Lahore'], Dubai: ['Dubai'], Doha: ['Doha'] })
const route = { from: { entity: city, after: ['from'] }, to: { entity: city, after: ['to'] } }

export const travel = defineConversation({
  name: 'travel',
  contexts: [booking, weather],
  interpreter: createRulesInterpreter({
    'book-flight': { phrases: ['(book|need|want) (a|my)? flight', 'fly'], slots: route },
    'give-route': { slots: route },
    confirm: { phrases: ['(yes|sure|ok|okay)', 'book it'] },
    'ask-weather': { phrases: ['(what|how) is the weather', 'weather'], slots: { city: { entity: city } } },
    cancel: { phrases: ['(cancel|forget) (it|that)?', 'never mind'] },
  }),
})
