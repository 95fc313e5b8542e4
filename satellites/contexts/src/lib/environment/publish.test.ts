import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineContext } from '../define/define-context.ts'
import { defineConversation } from '../define/define-conversation.ts'
import { createFerry, type Wanted } from '../fixtures/ferry.fixture.ts'
import { talkTo } from '../fixtures/talk.fixture.ts'
import type { ConversationInput, EventAddress } from '../model/conversation-input.ts'

describe('an event that a handler publishes', () => {
  it('is also delivered after an outside event, which is delivered once', () => {
    const relay = defineContext({
      name: 'relay',
      description: 'what is passed on',
      data: z.object({ received: z.array(z.string()).default([]) }),
      intents: {},
      events: { first: z.object({}), second: z.object({}) },
      initial: 'open',
      on: {
        first: {
          effect({ data, publish }) {
            data.received.push('first')
            publish('second', {})
          },
        },
        second: { effect: ({ data }) => void data.received.push('second') },
      },
      states: { open: {} },
    })
    const conversation = defineConversation({ name: 'relay', contexts: [relay], initial: 'relay' })
    const talk = talkTo(conversation)
    const event = conversation.event('first', {}, { id: 'one', to: 'conversation', now: 0 })
    expect(talk.take(event).record.public.stack[0]?.data.received).toEqual(['first', 'second'])
    expect(talk.take(event)).toMatchObject({ duplicate: true, replies: [] })
    expect(talk.record.private.events).toEqual(['one'])
  })
})

/** A context whose every hook publishes, and which records the events in the order of delivery. */
const noisy = defineContext({
  name: 'noisy',
  description: 'the noise',
  data: z.object({ received: z.array(z.string()).default([]), left: z.int().default(0) }),
  intents: {
    go: z.object({}),
    open: z.object({}),
    count: z.object({ from: z.int() }),
    fail: z.object({ how: z.string() }),
    stop: z.object({}),
  },
  events: { noted: z.object({ what: z.string() }), counted: z.object({ from: z.int() }), deeper: z.object({}) },
  initial: 'first',
  opens: { open: { effect: ({ publish }) => publish('noted', { what: 'opened' }) } },
  on: {
    noted: {
      effect({ data, event, publish }) {
        data.received.push(event.what)
        if (event.what === 'effect') publish('noted', { what: 'because of the effect' })
      },
    },
    counted: {
      effect({ data, event, publish }) {
        data.left = event.from
        if (event.from > 0) publish('counted', { from: event.from - 1 })
      },
    },
    deeper: { effect: ({ open }) => open('noisy') },
    count: { effect: ({ slots, publish }) => publish('counted', { from: slots.from }, { context: 'noisy' }) },
    stop: {
      effect({ publish, endConversation }) {
        publish('noted', { what: 'too late' })
        endConversation('stopped')
      },
    },
    fail: {
      effect({ data, slots: { how }, publish }) {
        data.left = -1
        publish('noted', { what: 'before the failure' })
        const mistakes: Record<string, [string, object, EventAddress?]> = {
          type: ['unhandled', {}],
          data: ['noted', { what: 7 }],
          json: ['noted', { what: 'x', more: undefined }],
          size: ['noted', { what: 'x'.repeat(4_000) }],
          context: ['noted', { what: 'x' }, { context: 'nobody' }],
          flood: ['noted', { what: 'again' }],
          address: ['noted', { what: 'x' }, { seat: 'mine' } as never],
          depth: ['deeper', {}],
        }
        const [type, given, to] = mistakes[how] as [string, object, EventAddress?]
        const own = { ...given }
        for (let times = 0; times < (how === 'flood' ? 1_000 : 1); times++) publish(type as 'noted', own as never, to)
      },
    },
  },
  states: {
    first: {
      exit: ({ publish }) => publish('noted', { what: 'exit' }),
      on: { go: { target: 'second', effect: ({ publish }) => publish('noted', { what: 'effect' }) } },
    },
    second: { entry: ({ publish }) => publish('noted', { what: 'entry' }), always: [{ target: 'third' }] },
    third: { entry: ({ publish }) => publish('noted', { what: 'entry of what follows' }) },
  },
  onTransition: ({ publish, to }) => publish('noted', { what: `transition to ${to}` }),
})
const noise = defineConversation({ name: 'noise', contexts: [noisy], initial: 'noisy', bounds: { depth: 2 } })
const count = (from: number) => noise.act('count', { from }, { now: 0 })
const fail = (how: string) => noise.act('fail', { how }, { now: 0 })

describe('events that hooks publish', () => {
  it('are delivered when a context opens, and at the start of a conversation', () => {
    const greeter = defineContext({
      name: 'greeter',
      description: 'a welcome',
      data: z.object({ greeted: z.boolean().default(false) }),
      intents: {},
      events: { begun: z.object({}) },
      initial: 'open',
      states: { open: { entry: ({ publish }) => publish('begun', {}), prompt: () => 'How can I help?' } },
      on: {
        begun: {
          effect({ data, say }) {
            data.greeted = true
            say('Welcome.')
          },
        },
      },
    })
    const { record, replies } = defineConversation({ name: 'hall', contexts: [greeter], initial: 'greeter' }).start()
    expect(replies.map(({ text }) => text)).toEqual(['Welcome.', 'How can I help?'])
    expect(record.public).toMatchObject({ turn: 2, stack: [{ data: { greeted: true } }] })
  })

  it('may cause one another 32 times; more are rejected as a cycle', () => {
    const talk = talkTo(noise)
    expect(talk.take(count(31)).record.public).toMatchObject({ turn: 34, stack: [{ data: { left: 0 } }] })
    const before = talk.record
    expect(() => talk.take(count(32))).toThrow(
      expect.objectContaining({
        code: 'handler-failed',
        message: 'noisy goes round with counted: 32 events have followed from one input. Nothing changed.',
      }),
    )
    expect(talk.record).toBe(before)
  })

  it.each([
    [
      'that no context handles',
      'type',
      'No context handles an event "unhandled". The events are: noted, counted, deeper.',
    ],
    ['with wrong data', 'data', 'The data of noted are wrong: what: '],
    ['with data that are not JSON', 'json', 'This is no input of a conversation: data.more'],
    ['with data that are too long', 'size', 'at most 4000 are read'],
    ['for an unknown context', 'context', 'There is no context "nobody". The contexts are: noisy.'],
    ['that exceed the limit for one input', 'flood', 'noisy goes round with noted: 32 events have followed'],
    ['for an invalid address', 'address', 'This is no input of a conversation: to: '],
  ])('%s fail the handler, and change nothing', (_, how, message) => {
    const talk = talkTo(noise)
    const before = talk.record
    expect(() => talk.take(fail(how))).toThrow(
      expect.objectContaining({ code: 'handler-failed', message: expect.stringContaining(message) }),
    )
    expect(talk.record).toBe(before)
  })
})

describe('any inputs whose handlers publish', () => {
  const ferries = fc.constantFrom('Dover', 'Calais')
  const inputs: fc.Arbitrary<ConversationInput> = fc.oneof(
    fc
      .tuple(fc.constantFrom('book-ferry', 'change-ferry', 'ask-refund'), ferries)
      .map(([intent, ferry]) => ({ kind: 'act' as const, intent, slots: { ferry }, now: 0 })),
    fc
      .constantFrom('pay', 'pay', 'pay', 'close-case')
      .map((intent) => ({ kind: 'act' as const, intent, slots: {}, now: 0 })),
    fc
      .constantFrom('booking', 'support')
      .map((context) => ({ kind: 'command' as const, command: { name: 'open' as const, context }, now: 0 })),
    fc
      .constantFrom('cancel' as const, 'back' as const)
      .map((name) => ({ kind: 'command' as const, command: { name }, now: 0 })),
  )

  it('leave the same record as the same events published from outside after each input', () => {
    const wanted: Wanted[] = []
    const publishing = createFerry()
    const asking = createFerry((event) => wanted.push(event))
    let delivered = 0
    fc.assert(
      fc.property(fc.array(inputs, { maxLength: 40, size: 'max' }), (sequence) => {
        const one = talkTo(publishing)
        const other = talkTo(asking)
        for (const input of sequence) {
          const taken = one.take(input)
          expect(other.take(input).refused?.code).toBe(taken.refused?.code)
          for (const { type, data, to } of wanted.splice(0)) {
            delivered += 1
            const { turn } = other.record.public
            expect(other.take({ kind: 'event', id: `after ${turn}`, type, data, to, now: 0 }).refused).toBeNull()
          }
        }
        expect(withoutReplies(one.record.public)).toEqual(withoutReplies(other.record.public))
        expect(JSON.parse(JSON.stringify(publishing.parse(one.record)))).toEqual(one.record)
      }),
      { numRuns: 100, seed: 1 },
    )
    expect(delivered).toBeGreaterThan(100)
  })

  /** The public part without the replies: a prompt is sent once, after all events. */
  function withoutReplies({ history, ...rest }: ReturnType<typeof talkTo>['record']['public']) {
    return { ...rest, history: history.map(({ replies, ...entry }) => entry) }
  }
})
