import { z } from 'zod'
import type { EventAddress } from './conversation-input.ts'
import { defineContext } from './define-context.ts'
import { defineConversation } from './define-conversation.ts'
import { literal } from './travel.fixture.ts'

/** An event that a handler of the fixture publishes. */
export interface Wanted {
  readonly type: string
  readonly data: Readonly<Record<string, string | number>>
  readonly to: EventAddress
}

const Ferry = z.enum(['Dover', 'Calais'])

const shared = {
  public: z.object({ places: z.object({ Dover: z.int(), Calais: z.int() }).default({ Dover: 2, Calais: 9 }) }),
  private: z.object({}),
}

/**
 * Places on two ferries, with more than one booking open at a time: whoever takes the last place of a ferry tells the other
 * bookings of it, and a place that is given back is told to whoever waits for one. `instead` gets what would be published.
 */
export function createFerry(instead?: (wanted: Wanted) => void) {
  const booking = defineContext({
    name: 'booking',
    description: 'your booking',
    data: z.object({ ferry: Ferry.nullable().default(null) }),
    shared,
    intents: {
      'book-ferry': z.object({ ferry: Ferry }).describe('book a ferry'),
      'change-ferry': z.object({ ferry: Ferry }),
      pay: z.object({}),
    },
    events: {
      'sold-out': z.object({ ferry: Ferry }),
      'place-free': z.object({ ferry: Ferry, left: z.int().default(1) }),
    },
    initial: 'ready',
    opens: {
      'book-ferry': {
        effect({ data, slots }) {
          data.ferry = slots.ferry
        },
      },
    },
    on: {
      'change-ferry': {
        target: 'ready',
        effect({ data, slots }) {
          data.ferry = slots.ferry
        },
      },
    },
    states: {
      ready: {
        on: {
          pay: {
            guard: hasPlace,
            target: 'paid',
            effect({ data: { ferry }, shared: { public: open }, publish }) {
              if (ferry === null) return
              open.places[ferry] -= 1
              const event = { type: 'sold-out', data: { ferry }, to: { topic: `ferry:${ferry}` } }
              if (open.places[ferry] > 0) return
              if (instead) instead(event)
              else publish('sold-out', event.data, event.to)
            },
          },
          'sold-out': {
            target: 'waiting',
            effect: ({ event, say }) => say(`The last place to ${event.ferry} is gone.`),
          },
        },
        prompt: ({ data }) => `To ${data.ferry}: shall I book it?`,
      },
      waiting: {
        on: {
          'place-free': { target: 'ready', effect: ({ comeForward }) => comeForward() },
        },
        prompt: ({ data }) => `You wait for a place to ${data.ferry}.`,
      },
      paid: { final: true, entry: ({ say }) => say('Paid.') },
    },
    topics: ({ ferry }) => [`ferry:${ferry}`],
  })

  const support = defineContext({
    name: 'support',
    description: 'support',
    data: z.object({ refunds: z.int().default(0) }),
    shared,
    intents: { 'ask-refund': z.object({ ferry: Ferry }).describe('get a refund'), 'close-case': z.object({}) },
    initial: 'open',
    opens: { 'ask-refund': {} },
    on: {
      'ask-refund': {
        effect({ data, slots: { ferry }, shared: { public: open }, publish }) {
          data.refunds += 1
          open.places[ferry] += 1
          const event = {
            type: 'place-free',
            data: { ferry, left: open.places[ferry] },
            to: { topic: `ferry:${ferry}` },
          }
          if (instead) instead(event)
          else publish(event.type, event.data, event.to)
        },
      },
      'close-case': { target: 'closed' },
    },
    states: { open: { prompt: () => 'What else?' }, closed: { final: true } },
  })

  return defineConversation({ name: 'ferry', contexts: [booking, support], interpreter: literal, shared })
}

function hasPlace({
  data: { ferry },
  shared,
}: {
  data: { ferry: z.output<typeof Ferry> | null }
  shared: { readonly public: { readonly places: { readonly Dover: number; readonly Calais: number } } }
}): boolean {
  return ferry !== null && shared.public.places[ferry] > 0
}
