import { describe, expect, it } from 'vitest'
import { priceChanged, talkTo } from '../fixtures/talk.fixture.ts'
import { travel } from '../fixtures/travel.fixture.ts'
import type { ConversationInput } from './conversation-input.ts'

describe('bad input', () => {
  const open = () => {
    const talk = talkTo(travel)
    talk.say('book-flight 0.9')
    return talk
  }

  it.each<[string, unknown, string, string]>([
    [
      'an unknown context',
      { kind: 'command', command: { name: 'open', context: 'hotel' }, now: 0 },
      'unknown-context',
      'The contexts are: booking, weather, support.',
    ],
    [
      'an unknown intent',
      { kind: 'act', intent: 'fly', slots: {}, now: 0 },
      'unknown-intent',
      'There is no intent "fly".',
    ],
    [
      'an intent named as what every object has',
      { kind: 'act', intent: 'constructor', slots: {}, now: 0 },
      'unknown-intent',
      'constructor',
    ],
    [
      'a context that is not one',
      { kind: 'act', intent: 'pay', slots: {}, context: 'hotel', now: 0 },
      'unknown-context',
      'hotel',
    ],
    [
      'a context that does not take it',
      { kind: 'act', intent: 'close-case', slots: {}, context: 'support', now: 0 },
      'illegal-transition',
      'support is not open, and does not open by close-case',
    ],
    [
      'a stated command that cannot be followed',
      { kind: 'act', intent: 'back', slots: {}, now: 0 },
      'nothing-open',
      'nothing to go back to',
    ],
    [
      'a stated command without what it needs',
      { kind: 'act', intent: 'switch', slots: {}, now: 0 },
      'slots-invalid',
      'context',
    ],
    [
      'a stated command for an unknown context',
      { kind: 'act', intent: 'switch', slots: { context: 'hotel' }, now: 0 },
      'unknown-context',
      'hotel',
    ],
    [
      'an unknown event',
      { kind: 'event', id: '1', type: 'storm', data: {}, to: 'conversation', now: 0 },
      'unknown-event',
      'The events are: price-changed, sold-out.',
    ],
    [
      'an event for an unknown context',
      { kind: 'event', id: '1', type: 'sold-out', data: {}, to: { context: 'hotel' }, now: 0 },
      'unknown-context',
      'hotel',
    ],
    [
      'wrong slots',
      { kind: 'act', intent: 'set-passengers', slots: { count: 'many' }, now: 0 },
      'slots-invalid',
      'count',
    ],
    [
      'wrong data',
      { kind: 'event', id: '1', type: 'price-changed', data: {}, to: 'conversation', now: 0 },
      'event-invalid',
      'price',
    ],
    [
      'an intent that the state does not accept',
      { kind: 'act', intent: 'pay', slots: {}, now: 0 },
      'illegal-transition',
      'booking does not accept pay in the state collecting',
    ],
    [
      'a command that cannot be followed',
      { kind: 'command', command: { name: 'back' }, now: 0 },
      'nothing-open',
      'nothing to go back to',
    ],
    ['an unknown command', { kind: 'command', command: { name: 'fly' }, now: 0 }, 'input-invalid', 'command.name'],
    [
      'a text of a megabyte',
      { kind: 'utterance', text: 'x'.repeat(1_000_000), interpreted: { candidates: [], problem: null }, now: 0 },
      'text-too-long',
      'at most 4000',
    ],
    [
      'slots of a megabyte',
      { kind: 'act', intent: 'book-flight', slots: { from: 'x'.repeat(1_000_000) }, now: 0 },
      'input-invalid',
      'at most 4000',
    ],
    [
      'slots that JSON cannot say',
      { kind: 'act', intent: 'book-flight', slots: { from: '\ud800' }, now: 0 },
      'input-invalid',
      'lone surrogate',
    ],
    ['no input at all', null, 'input-invalid', 'no input'],
    ['another thing', { kind: 'shout' }, 'input-invalid', 'kind'],
  ])('%s is refused, and changes nothing', (_, input, code, message) => {
    const talk = open()
    const before = talk.record
    const result = travel.handleInput(before, input as ConversationInput)
    expect(result.refused).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(result.refused?.message.length).toBeLessThan(500)
    expect(result.record).toBe(before)
    expect(talk.say('set-route 0.9 {"from":"Lahore"}').intent).toBe('set-route')
  })

  it('bounds the depth of the stack', () => {
    const talk = open()
    for (let depth = 1; depth < 8; depth++)
      talk.take({ kind: 'command', command: { name: 'open', context: 'support' }, now: 0 })
    const before = talk.record
    const { refused, record } = talk.say('ask-weather 0.9')
    expect(refused).toMatchObject({ code: 'too-deep', details: { depth: 8 } })
    expect(record).toBe(before)
  })

  it('is refused once the conversation is over', () => {
    const talk = open()
    talk.take(priceChanged('1', 'conversation'))
    talk.take({ kind: 'command', command: { name: 'end' }, now: 0 })
    const before = talk.record
    expect(talk.take(priceChanged('2', 'conversation')).refused?.code).toBe('conversation-ended')
    expect(talk.say('pay 0.9').refused?.code).toBe('conversation-ended')
    expect(talk.take(priceChanged('1', 'conversation'))).toMatchObject({ duplicate: true, refused: null })
    expect(talk.record).toBe(before)
  })
})
