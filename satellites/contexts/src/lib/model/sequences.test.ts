import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { travel } from '../fixtures/travel.fixture.ts'
import { createReference } from '../fixtures/travel-reference.fixture.ts'
import type { ConversationInput } from './conversation-input.ts'
import type { ConversationRecord } from './conversation-record.ts'

const SEQUENCES = process.env.CI ? 10_000 : 2_000 // CI draws all that are promised.

const cities = fc.constantFrom('Lahore', 'Dubai', 'Doha')
const route = fc.record({ from: cities, to: cities }, { requiredKeys: [] })

/** An intent with its slots, as the fixture's contexts know it. */
const intents = fc.oneof(
  fc.tuple(fc.constantFrom('book-flight', 'set-route', 'set-route'), route),
  fc.tuple(fc.constant('set-passengers'), fc.record({ count: fc.integer({ min: 1, max: 12 }) })),
  fc.tuple(fc.constant('ask-weather'), fc.record({ city: cities }, { requiredKeys: [] })),
  fc.tuple(
    fc.constantFrom('next-day', 'ask-refund', 'close-case', 'pay', 'cancel', 'back', 'fly-home'),
    fc.constant({}),
  ),
)

const contexts = fc.constantFrom('booking', 'weather', 'support')

const inputs: fc.Arbitrary<ConversationInput> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(intents, fc.constantFrom(0.9, 0.9, 0.9, 0.2)).map(([[intent, slots], score]) => ({
      kind: 'utterance' as const,
      text: `${intent} ${JSON.stringify(slots)}`,
      interpreted: { candidates: [{ intent, score, slots }], problem: null },
      now: 0,
    })),
  },
  { weight: 3, arbitrary: intents.map(([intent, slots]) => ({ kind: 'act' as const, intent, slots, now: 0 })) },
  {
    weight: 1,
    arbitrary: fc.constant({
      kind: 'utterance' as const,
      text: 'something',
      interpreted: { candidates: [], problem: 'The interpreter failed.' },
      now: 0,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('command' as const),
      command: fc.oneof(
        fc.record({ name: fc.constantFrom('switch' as const, 'open' as const), context: contexts }),
        fc.record({ name: fc.constantFrom('cancel' as const, 'back' as const) }),
      ),
      now: fc.constant(0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      // So few ids that many events are repeated.
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      type: fc.constantFrom('price-changed', 'price-changed', 'sold-out'),
      data: fc.record({ price: fc.integer({ min: 1, max: 500 }) }),
      to: fc.oneof(
        fc.constant('conversation' as const),
        fc.record({ context: contexts }),
        fc.record({ topic: cities.map((city) => `to:${city}`) }),
      ),
      now: fc.constant(0),
    }),
  },
)

const steps = fc.array(fc.record({ input: inputs, dropped: fc.boolean() }), { maxLength: 24 })

describe('defineConversation, over any sequence of inputs', () => {
  it('keeps the data of each context as if it were the only one, through digressions, events, drops and resumes', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const reference = createReference()
        let { record } = travel.start()
        for (const { input, dropped } of sequence) {
          // A dropped conversation continues from its stored record.
          const before = freeze(dropped ? travel.parse(JSON.parse(JSON.stringify(record))) : record)
          const result = travel.handleInput(before, input)
          const taken = reference.take(input)
          expect({ refused: result.refused?.code ?? null, duplicate: result.duplicate }).toEqual(taken)
          if (result.refused || result.duplicate) expect(result.record).toBe(before)
          record = result.record
        }
        expect(dataOf(record)).toEqual(reference.data())
      }),
      { numRuns: SEQUENCES },
    )
  }, 180_000)

  it('answers the same input on the same record alike, so that a conversation forks and replays', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        let { record } = travel.start()
        const inputs = sequence.map(({ input }) => input)
        for (const input of inputs) {
          const result = travel.handleInput(record, input)
          expect(travel.handleInput(JSON.parse(JSON.stringify(record)), input)).toEqual(result)
          record = result.record
        }
        expect(JSON.parse(JSON.stringify(record))).toEqual(record)
        expect(inputs.reduce((again, input) => travel.handleInput(again, input).record, travel.start().record)).toEqual(
          record,
        )
      }),
      { numRuns: 300 },
    )
  })

  it('never passes its bounds', () => {
    fc.assert(
      fc.property(fc.array(inputs, { minLength: 40, maxLength: 60 }), (sequence) => {
        const { public: open, private: hidden } = sequence.reduce(
          (record, input) => travel.handleInput(record, input).record,
          travel.start().record,
        )
        const { depth, history, closed, path, events } = travel.bounds
        expect(open.stack.length).toBeLessThanOrEqual(depth)
        expect(open.history.length).toBeLessThanOrEqual(history.entries)
        expect(open.closed.length).toBeLessThanOrEqual(closed)
        expect(open.path.length).toBeLessThanOrEqual(path)
        expect(hidden.events.length).toBeLessThanOrEqual(events)
        expect(Object.keys(hidden.hidden).length).toBeLessThanOrEqual(depth)
      }),
      { numRuns: 50 },
    )
  })
})

/** The data of all contexts: open and closed, hidden and shared. */
function dataOf({ public: { stack, closed, shared }, private: { hidden, shared: hiddenShared } }: ConversationRecord) {
  return {
    open: stack.map(({ id, context, state, data }) => ({ id, context, state, data, hidden: hidden[id] ?? null })),
    closed: closed.map(({ id, context, state, data, how }) => ({ id, context, state, data, how })),
    shared: { public: shared, private: hiddenShared },
  }
}

/** Freezes a record deeply, so that an edit in place throws. */
function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    for (const inner of Object.values(Object.freeze(value))) freeze(inner)
  return value
}
