import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineContext } from '../define/define-context.ts'
import { defineConversation } from '../define/define-conversation.ts'
import { talkTo } from '../fixtures/talk.fixture.ts'
import { literal, shared, weather } from '../fixtures/travel.fixture.ts'
import type { ConversationDefinition } from './conversation.ts'

describe('the code of a context', () => {
  const Go = z.object({ how: z.string() })
  const faulty = defineContext({
    name: 'faulty',
    description: 'what goes wrong',
    data: z.object({
      count: z.int().max(9).default(0),
      log: z.object({ lines: z.array(z.string()) }).default({ lines: [] }),
    }),
    intents: { go: Go },
    initial: 'here',
    states: {
      here: {
        entry: ({ data }) => data.log.lines.push('entered'),
        on: {
          go: [
            { guard: ({ slots }) => slots.how === 'around', target: 'there' },
            {
              effect({ data, slots, say, open, endConversation }) {
                data.log.lines.push('edited')
                if (slots.how === 'throw') throw new Error('broken')
                if (slots.how === 'overflow') data.count = 10
                if (slots.how === 'chatter') for (let said = 0; said < 20; said++) say('and')
                if (slots.how === 'shout') say('x'.repeat(5_000))
                if (slots.how === 'nowhere') open('nowhere')
                if (slots.how === 'end') endConversation('enough')
                if (slots.how === 'odd') Object.assign(data, { log: { lines: [undefined] } })
                return slots.how === 'later' ? Promise.resolve() : undefined
              },
            },
          ],
        },
      },
      there: { always: [{ target: 'elsewhere' }] },
      elsewhere: { always: [{ target: 'there' }] },
    },
  })
  const fragile = defineConversation({ name: 'fragile', contexts: [faulty], initial: 'faulty' })

  it.each([
    ['throw', 'threw: broken'],
    ['overflow', 'wrong data: count'],
    ['chatter', 'more than 16 things'],
    ['shout', '5000 characters'],
    ['nowhere', 'There is no context "nowhere"'],
    ['odd', 'wrong data: log.lines.0'],
    ['later', 'asynchronous'],
    ['around', 'goes round'],
  ])('that fails (%s) throws, and changes nothing', (how, message) => {
    const { record } = fragile.start()
    const text = JSON.stringify(record)
    expect(() => fragile.handleInput(record, fragile.act('go', { how }, { now: 0 }))).toThrow(
      expect.objectContaining({ code: 'handler-failed', message: expect.stringContaining(message) }),
    )
    expect(JSON.stringify(record)).toBe(text)
    expect(fragile.handleInput(record, fragile.act('go', { how: 'well' }, { now: 0 })).refused).toBeNull()
  })
})

describe('hooks', () => {
  it('run in the order of the machine: exit, effect, entry, onTransition, always, prompt', () => {
    const hooked = defineContext({
      name: 'hooked',
      description: 'the order of things',
      data: z.object({}),
      intents: { go: z.object({}) },
      initial: 'first',
      states: {
        first: {
          entry: ({ say }) => say('enter first'),
          exit: ({ say, state }) => say(`exit ${state}`),
          on: { go: { target: 'second', effect: ({ say, state }) => say(`effect in ${state}`) } },
        },
        second: {
          entry: ({ say, state }) => say(`enter ${state}`),
          always: [{ target: 'third', effect: ({ say }) => say('always') }],
        },
        third: { prompt: () => 'prompt of third' },
      },
      onTransition: ({ say, from, to, on }) => say(`${from} to ${to} on ${on}`),
    })
    const talk = talkTo(defineConversation({ name: 'order', contexts: [hooked], initial: 'hooked' }))
    expect(talk.started.replies.map(({ text }) => text)).toEqual(['enter first'])
    const { replies } = talk.take({ kind: 'act', intent: 'go', slots: {}, now: 0 })
    expect(replies.map(({ text }) => text)).toEqual([
      'exit first',
      'effect in first',
      'enter second',
      'first to second on go',
      'always',
      'second to third on null',
      'prompt of third',
    ])
  })
})

describe('the code of a conversation', () => {
  const route = { intent: 'ask-weather', score: 1, slots: {}, context: 'weather', frame: null, active: false }

  it.each<[string, Partial<ConversationDefinition<readonly [typeof weather]>>, string]>([
    [
      'a router that throws',
      {
        router: () => {
          throw new Error('lost')
        },
      },
      'The router of frail threw: lost.',
    ],
    ['a router that makes things up', { router: () => ({ kind: 'take', route }) }, 'picked what it was not given'],
    [
      'a fallback that throws',
      {
        fallback: () => {
          throw new Error('speechless')
        },
      },
      'The fallback of frail threw: speechless.',
    ],
    [
      'a summary that throws',
      {
        bounds: { history: { entries: 1, bytes: 100 } },
        summarise: () => {
          throw new Error('forgot')
        },
      },
      'The summary of frail threw: forgot.',
    ],
    [
      'a summary that is none',
      { bounds: { history: { entries: 1, bytes: 100 } }, summarise: () => 7 as never },
      'The summary of frail is number',
    ],
  ])('that fails (%s) throws, and changes nothing', (_, faulty, message) => {
    const frail = defineConversation({ name: 'frail', contexts: [weather], shared, interpreter: literal, ...faulty })
    const { record } = frail.start()
    const say = () => {
      const say = (text: string) =>
        ({ kind: 'utterance', text, interpreted: frail.interpretNow(record, text, { now: 0 }), now: 0 }) as const
      const { record: next } = frail.handleInput(record, say('ask-weather 0.9'))
      frail.handleInput(next, say('hm'))
    }
    expect(say).toThrow(expect.objectContaining({ code: 'handler-failed', message: expect.stringContaining(message) }))
  })
})
