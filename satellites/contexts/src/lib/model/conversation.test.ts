import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineContext } from '../define/define-context.ts'
import { defineConversation } from '../define/define-conversation.ts'
import { priceChanged, talkTo } from '../fixtures/talk.fixture.ts'
import { booking, literal, shared, support, travel, weather } from '../fixtures/travel.fixture.ts'
import type { ConversationRecord } from './conversation-record.ts'

describe('a conversation', () => {
  it('suspends a context for a digression, and comes back to where it was', () => {
    const talk = talkTo(travel)
    talk.say('book-flight 0.9')
    talk.say('set-route 0.9 {"from":"Lahore","to":"Dubai"}')
    const before = booking.find(talk.record)
    const { replies, transitions } = talk.say('ask-weather 0.9 {"city":"Dubai"}')
    expect(replies.map(({ context, text }) => [context, text])).toEqual([
      ['weather', 'It is sunny in Dubai on day 0.'],
      ['booking', 'Back to your booking, Lahore to Dubai.'],
      ['booking', 'Lahore to Dubai for 100: shall I book?'],
    ])
    expect(transitions.map(({ kind, context }) => `${kind} ${context}`)).toEqual([
      'suspended booking',
      'opened weather',
      'moved weather',
      'finished weather',
      'resumed booking',
    ])
    expect(booking.find(talk.record)).toEqual(before)
  })

  it('routes an utterance to a suspended context that accepts it, and resumes that context', () => {
    const talk = talkTo(travel)
    talk.say('book-flight 0.9 {"from":"Lahore","to":"Dubai"}')
    talk.say('ask-weather 0.9')
    expect(talk.open()).toEqual(['booking', 'weather'])
    const { replies } = talk.say('set-passengers 0.9 {"count":3}')
    expect(talk.open()).toEqual(['weather', 'booking'])
    expect(replies.map(({ text }) => text).slice(0, 2)).toEqual(['3 fly.', 'Back to your booking, Lahore to Dubai.'])
  })

  it('follows commands, spoken or stated', () => {
    const talk = talkTo(travel)
    talk.say('book-flight 0.9')
    talk.say('ask-weather 0.9')
    talk.say('back 0.9')
    expect(talk.open()).toEqual(['weather', 'booking'])
    talk.take({ kind: 'command', command: { name: 'switch', context: 'weather' }, now: 0 })
    expect(talk.open()).toEqual(['booking', 'weather'])
    talk.say('switch 0.9 {"context":"support"}')
    expect(talk.open()).toEqual(['booking', 'weather', 'support'])
    talk.say('cancel 0.9')
    expect(talk.open()).toEqual(['booking', 'weather'])
    expect(support.closed(talk.record).at(-1)).toMatchObject({ how: 'cancelled', result: null })
    talk.take({ kind: 'command', command: { name: 'end' }, now: 0 })
    expect(talk.record.public.ended).toBe('ended-by-user')
  })

  it('keeps hidden data out of the public part', () => {
    const talk = talkTo(travel)
    talk.say('book-flight 0.9')
    talk.take(priceChanged('1', 'conversation'))
    expect(JSON.stringify(talk.record.public)).not.toMatch(/offers|seats/)
    expect(talk.record.private.hidden).toEqual({ 1: { offers: 1 } })
  })
})

describe('an event', () => {
  it('reaches suspended contexts, by name, by topic and all at once, and never twice', () => {
    const talk = talkTo(travel)
    talk.say('book-flight 0.9 {"from":"Lahore","to":"Dubai"}')
    talk.say('book-flight 0.9 {"from":"Lahore","to":"Doha"}')
    talk.say('ask-refund 0.9')
    const prices = () => talk.record.public.stack.slice(0, 2).map(({ data }) => data.price)
    const { replies } = talk.take(priceChanged('1', { topic: 'to:Dubai' }, 80))
    expect(replies).toEqual([{ text: 'The price is now 80.', context: 'booking', frame: 1 }])
    expect(prices()).toEqual([80, 100])
    talk.take(priceChanged('2', { context: 'booking' }, 90))
    expect(prices()).toEqual([90, 90])
    const again = talk.take(priceChanged('2', { context: 'booking' }, 95))
    expect(again).toMatchObject({ duplicate: true, replies: [], refused: null })
    expect(prices()).toEqual([90, 90])
    talk.take(priceChanged('3', 'conversation', 70))
    expect(prices()).toEqual([70, 70])
    expect(talk.open()).toEqual(['booking', 'booking', 'support'])
  })

  it('may finish a suspended context, which leaves the active one as it was', () => {
    const parcel = defineContext({
      name: 'parcel',
      description: 'your parcel',
      data: z.object({}),
      intents: { 'track-parcel': z.object({}) },
      events: { delivered: z.object({}) },
      initial: 'underway',
      opens: { 'track-parcel': {} },
      on: { delivered: { target: 'arrived', effect: ({ say }) => say('Your parcel has arrived.') } },
      states: { underway: { prompt: () => 'It is on its way.' }, arrived: { final: true } },
    })
    const post = defineConversation({ name: 'post', contexts: [booking, parcel], shared, interpreter: literal })
    const talk = talkTo(post)
    talk.say('track-parcel 0.9')
    talk.say('book-flight 0.9 {"from":"Lahore","to":"Dubai"}')
    const before = booking.find(talk.record)
    const { replies, transitions } = talk.take(post.event('delivered', {}, { id: '1', to: 'conversation', now: 0 }))
    expect(replies).toEqual([{ text: 'Your parcel has arrived.', context: 'parcel', frame: 1 }])
    expect(transitions.map(({ kind, context }) => `${kind} ${context}`)).toEqual(['moved parcel', 'finished parcel'])
    expect(talk.open()).toEqual(['booking'])
    expect(booking.find(talk.record)).toEqual(before)
  })
})

describe('what a conversation remembers', () => {
  it('is bounded in number, and dropped entries are summarised', () => {
    const brief = defineConversation({
      name: 'brief',
      contexts: [weather],
      shared,
      interpreter: literal,
      bounds: { history: { entries: 2, bytes: 10_000 }, closed: 1, path: 3, summary: 30 },
      summarise: (summary, dropped) => [summary, ...dropped.map(({ slots }) => slots.city)].join(' '),
    })
    const talk = talkTo(brief)
    for (const city of ['Dubai', 'Doha', 'Lahore', 'Muscat', 'Riyadh']) talk.say(`ask-weather 0.9 {"city":"${city}"}`)
    const { history, summary, closed, path, turn } = talk.record.public
    expect(history.map(({ slots, intent, replies }) => [slots.city, intent, replies])).toEqual([
      ['Muscat', 'ask-weather', ['It is sunny in Muscat on day 0.']],
      ['Riyadh', 'ask-weather', ['It is sunny in Riyadh on day 0.']],
    ])
    expect(summary).toBe(' Dubai Doha Lahore')
    expect([closed.length, path.length, turn]).toEqual([1, 3, 5])
  })

  it('is parsed from JSON, and other values are rejected', () => {
    const talk = talkTo(travel)
    talk.say('book-flight 0.9')
    expect(travel.parse(JSON.parse(JSON.stringify(talk.record)))).toEqual(talk.record)
    const [frame] = talk.record.public.stack
    for (const wrong of [
      null,
      {},
      { ...talk.record, public: { ...talk.record.public, stack: [{ ...frame, state: 'lost' }] } },
      { ...talk.record, public: { ...talk.record.public, stack: [{ ...frame, data: { passengers: 0 } }] } },
    ])
      expect(() => travel.parse(wrong)).toThrow(expect.objectContaining({ code: 'record-invalid' }))
    const unknown = { ...talk.record, public: { ...talk.record.public, stack: [{ ...frame, context: 'hotel' }] } }
    expect(() =>
      travel.handleInput(unknown as ConversationRecord, { kind: 'command', command: { name: 'back' }, now: 0 }),
    ).toThrow(expect.objectContaining({ code: 'record-invalid' }))
  })
})
