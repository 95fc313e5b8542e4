import { describe, expect, it } from 'vitest'
import { defineConversation } from '../define/define-conversation.ts'
import { booking, shared, weather } from '../fixtures/travel.fixture.ts'
import type { Interpretation, Interpreter, InterpretRequest } from './interpreter.ts'

type Interpret = (request: InterpretRequest) => unknown

function conversationWith(interpret: Interpret, contexts = [booking, weather] as const) {
  const interpreter: Interpreter = { name: 'faulty', interpret: interpret as Interpreter['interpret'] }
  return defineConversation({ name: 'travel', contexts, shared, interpreter, initial: 'booking' })
}

const GARBAGE: [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a text', 'set-route'],
  ['no list', { candidates: {} }],
  ['a score above 1', { candidates: [{ intent: 'pay', score: 7, slots: {} }] }],
  ['a score that is no number', { candidates: [{ intent: 'pay', score: Number.NaN, slots: {} }] }],
  ['slots that are none', { candidates: [{ intent: 'pay', score: 1, slots: [] }] }],
  ['slots that JSON cannot say', { candidates: [{ intent: 'pay', score: 1, slots: { at: new Date(0) } }] }],
  ['slots of a megabyte', { candidates: [{ intent: 'pay', score: 1, slots: { note: 'x'.repeat(1_000_000) } }] }],
]

describe('interpret', () => {
  it.each(GARBAGE)('answers an interpreter that returns %s, and the conversation continues', async (_, garbage) => {
    for (const given of [() => garbage, async () => garbage]) {
      const talk = conversationWith(given)
      const { record } = talk.start()
      const interpreted = await talk.interpret(record, 'hello', { now: 0 })
      expect(interpreted.candidates).toEqual([])
      expect(interpreted.problem).toMatch(/^The interpreter faulty gave /)
      const { replies, record: next } = talk.handleInput(record, {
        kind: 'utterance',
        text: 'hello',
        interpreted,
        now: 0,
      })
      expect(replies.map(({ text }) => text)).toEqual([
        'I could not make that out just now. Please say it again.',
        'Where do you fly from?',
      ])
      expect(next.public.stack).toEqual(record.public.stack)
    }
  })

  it.each<[string, Interpret]>([
    [
      'throws',
      () => {
        throw new Error('out of order')
      },
    ],
    ['rejects', () => Promise.reject(new Error('out of order'))],
    [
      'throws what is no error',
      () => {
        throw 'out of order'
      },
    ],
  ])('answers an interpreter that %s', async (_, interpret) => {
    const talk = conversationWith(interpret)
    expect(await talk.interpret(talk.start().record, 'hello', { now: 0 })).toEqual({
      candidates: [],
      problem: 'The interpreter faulty failed: out of order.',
    })
  })

  it('drops candidates that are unknown or that a schema rejects', async () => {
    const candidates = [
      { intent: 'fly-home', score: 1, slots: {} },
      { intent: 'set-passengers', score: 0.9, slots: { count: 'many' } },
      { intent: 'set-route', score: 0.8, slots: { from: 'Lahore' } },
    ]
    const talk = conversationWith(() => ({ candidates: candidates.toReversed() }))
    const { record } = talk.start()
    const interpreted = await talk.interpret(record, 'hello', { now: 0 })
    expect(interpreted).toEqual({ candidates, problem: null })
    expect(talk.handleInput(record, { kind: 'utterance', text: 'hello', interpreted, now: 0 }).intent).toBe('set-route')
  })

  it('sends the interpreter the situation, without hidden data', async () => {
    const requests: InterpretRequest[] = []
    const talk = conversationWith((request): Interpretation => {
      requests.push(request)
      return { candidates: [{ intent: 'set-route', score: 1, slots: { from: 'Lahore' } }] }
    })
    let { record } = talk.start()
    const interpreted = await talk.interpret(record, 'from Lahore', { now: 5 })
    record = talk.handleInput(record, { kind: 'utterance', text: 'from Lahore', interpreted, now: 5 }).record
    await talk.interpret(record, 'to Dubai', { now: 7 })
    const [, second] = requests
    expect(second).toMatchObject({
      text: 'to Dubai',
      now: 7,
      active: { context: 'booking', state: 'collecting', data: { from: 'Lahore', to: null } },
      accepted: ['set-route', 'set-passengers'],
      history: [{ kind: 'command' }, { text: 'from Lahore', intent: 'set-route', slots: { from: 'Lahore' }, now: 5 }],
      question: null,
    })
    expect(second?.intents.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['book-flight', 'set-route', 'ask-weather', 'cancel', 'back', 'switch', 'end']),
    )
    expect(second?.intents.find(({ name }) => name === 'book-flight')).toMatchObject({
      description: 'book a flight',
      contexts: ['booking'],
      slots: { type: 'object', properties: { from: { type: 'string' } } },
    })
    expect(JSON.stringify(requests)).not.toMatch(/offers|seats/)
  })
})
