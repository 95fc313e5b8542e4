import { z } from 'zod'
import { booking, travel, weather } from '../fixtures/travel.fixture.ts'
import { defineContext } from './define-context.ts'
import { defineConversation } from './define-conversation.ts'

// Whole contexts as an author writes them: nothing in them is annotated.
const { record } = travel.start({ shared: { public: { city: null }, private: { seats: 3 } } })
booking.find(record)?.data.passengers satisfies number | undefined
booking.find(record)?.state satisfies 'collecting' | 'confirming' | 'sold-out' | 'paid' | undefined
booking.closed(record)[0]?.result?.passengers satisfies number | undefined
weather.closed(record)[0]?.result satisfies null | undefined
// @ts-expect-error a context's data is that of its schema
weather.find(record)?.data.from

travel.act('set-passengers', { count: 3 }, { now: 0 })
travel.act('ask-weather', { city: 'Dubai' }, { now: 0 })
// @ts-expect-error slots are those of the intent
travel.act('ask-weather', { count: 3 }, { now: 0 })
// @ts-expect-error and all of them
travel.act('set-passengers', {}, { now: 0 })
// @ts-expect-error an intent is one that a context understands
travel.act('fly', {}, { now: 0 })
travel.event('price-changed', { price: 3 }, { id: '1', to: { topic: 'from:LHE' }, now: 0 })
// @ts-expect-error an event's data is of its types
travel.event('price-changed', { price: '3' }, { id: '1', to: 'conversation', now: 0 })
// @ts-expect-error an event is one that a context handles
travel.event('strike', {}, { id: '1', to: 'conversation', now: 0 })
travel.sharedOf(record).public.city satisfies string | null
// @ts-expect-error what is shared has to be what its schemas say
travel.start({ shared: { public: { city: 3 }, private: { seats: 3 } } })
// @ts-expect-error the first context is one of the conversation's
defineConversation({ name: 'travel', contexts: [booking, weather], initial: 'hotel' })

const described = {
  name: 'mistaken',
  description: 'what an author may get wrong',
  data: z.object({ count: z.int().default(0) }),
  intents: { add: z.object({ times: z.int() }), stop: z.object({}) },
  events: { reset: z.object({ to: z.int() }) },
} as const

defineContext({
  ...described,
  initial: 'open',
  on: {
    add: {
      effect({ data, slots, hidden, shared }) {
        // @ts-expect-error slots are those of the intent
        slots.count
        // @ts-expect-error data is that of the schema
        data.total
        // @ts-expect-error of its types
        data.count = 'many'
        // @ts-expect-error nothing is hidden that was not declared
        hidden.floor
        // @ts-expect-error nor shared
        shared.public
      },
    },
    reset: {
      guard({ event, data }) {
        // @ts-expect-error a guard only reads
        data.count = 1
        // @ts-expect-error an event has no slots
        event.times
        return event.to > 0
      },
    },
  },
  states: {
    open: {
      on: {
        // @ts-expect-error what is accepted is an intent or an event of the context
        finish: { target: 'done' },
      },
      // @ts-expect-error a prompt is a text
      prompt: ({ data }) => data.count,
    },
    done: { final: true },
  },
})

// @ts-expect-error the first state is one of the states
defineContext({ ...described, initial: 'ajar', states: { open: {} } })
// @ts-expect-error a target is one of the states
defineContext({ ...described, initial: 'open', states: { open: { on: { stop: { target: 'shut' } } } } })
// @ts-expect-error an event opens nothing
defineContext({ ...described, initial: 'open', states: { open: {} }, opens: { reset: {} } })

// Without events, hidden or shared data, too, nothing is annotated.
defineContext({
  name: 'bare',
  description: 'the least there is',
  data: z.object({ count: z.int().default(0) }),
  intents: { add: z.object({ times: z.int() }) },
  initial: 'open',
  states: {
    open: {
      on: {
        add: {
          guard: ({ slots }) => slots.times > 0,
          effect({ data, slots, previous }) {
            data.count += slots.times satisfies number
            previous?.count satisfies number | undefined
          },
        },
      },
    },
  },
  // @ts-expect-error and what is accepted is still one of its intents
  on: { reset: {} },
  onTransition({ from, on, data }) {
    from satisfies 'open'
    on satisfies string | null
    data.count satisfies number
  },
})

// An event that the context handles itself is typed; one that only others handle is checked when it is published.
defineContext({
  ...described,
  initial: 'open',
  states: { open: { entry: ({ publish }) => publish('reset', { to: 1 }, { topic: 'counters' }) } },
  on: {
    add: {
      guard(view) {
        // @ts-expect-error a guard publishes nothing
        view.publish
        return true
      },
      effect({ slots, publish }) {
        publish('reset', { to: slots.times })
        publish('for-others', { anything: ['as', 'JSON'] }, { context: 'others' })
        // @ts-expect-error a text is not a number
        publish('reset', { to: 'zero' })
        // @ts-expect-error an address is one of the three
        publish('reset', { to: 0 }, 'everybody')
        // @ts-expect-error a value that is not JSON is not data
        publish('for-others', { when: new Date(0) })
      },
    },
  },
  onTransition: ({ publish }) => publish('reset', { to: 0 }, 'conversation'),
  resume({ publish }) {
    // @ts-expect-error its data lack a field
    publish('reset', {})
  },
})
