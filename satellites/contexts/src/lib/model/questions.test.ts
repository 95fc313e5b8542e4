import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineContext } from '../define/define-context.ts'
import { defineConversation } from '../define/define-conversation.ts'
import { talkTo } from '../fixtures/talk.fixture.ts'
import { literal, travel } from '../fixtures/travel.fixture.ts'

describe('a question', () => {
  const ambiguous = () => {
    const talk = talkTo(travel)
    talk.say('book-flight 0.9 {"from":"Lahore","to":"Dubai"}')
    return { talk, asked: talk.say('ask-weather 0.8 {"city":"Dubai"}; ask-refund 0.75') }
  }

  it('is asked if two meanings are about as likely, and neither is guessed', () => {
    const { talk, asked } = ambiguous()
    expect(asked.replies.map(({ text }) => text)).toEqual([
      'Do you mean (1) hear about the weather (Dubai) or (2) get a refund?',
    ])
    expect(talk.open()).toEqual(['booking'])
    expect(asked.intent).toBeNull()
  })

  it.each([
    ['1', 'ask-weather'],
    ['the first one please', 'ask-weather'],
    ['one', 'ask-weather'],
    ['option one', 'ask-weather'],
    ['2', 'ask-refund'],
    ['the second', 'ask-refund'],
    ['The LAST one.', 'ask-refund'],
    ['weather', 'ask-weather'],
    ['I mean the refund', 'ask-refund'],
    ['support', 'ask-refund'],
    ['ask-refund 0.9', 'ask-refund'],
  ])('understands the answer %j', (answer, intent) => {
    const { talk } = ambiguous()
    expect(talk.say(answer).intent).toBe(intent)
    expect(talk.record.public.question).toBeNull()
  })
})

describe('an intent that two contexts know', () => {
  const Pick = z.object({ number: z.int() })
  const list = (name: 'films' | 'books') =>
    defineContext({
      name,
      description: name,
      data: z.object({ picked: z.int().nullable().default(null) }),
      intents: { pick: Pick, cancel: z.object({}) },
      initial: 'listing',
      states: {
        listing: {
          on: {
            pick: {
              effect({ data, slots }) {
                data.picked = slots.number
              },
            },
          },
        },
      },
      on: { cancel: { effect: ({ say }) => say('Are you sure?') } },
      opens: { pick: {} },
    })
  const [films, books] = [list('films'), list('books')]
  const shop = defineConversation({ name: 'shop', contexts: [films, books], interpreter: literal })

  it('leads to a question if neither is active, unless the act names its context', () => {
    const talk = talkTo(shop)
    expect(talk.take(shop.act('pick', { number: 1 }, { now: 0 })).replies[0]?.text).toBe(
      'Do you mean (1) pick (1) in films or (2) pick (1) in books?',
    )
    talk.say('books')
    expect(talk.open()).toEqual(['books'])
    talk.take(shop.act('pick', { number: 4 }, { now: 0, context: 'films' }))
    expect(talk.open()).toEqual(['books', 'films'])
  })

  it('overrides a command of its name', () => {
    const talk = talkTo(shop)
    talk.take({ kind: 'command', command: { name: 'open', context: 'films' }, now: 0 })
    expect(talk.say('cancel 0.9').replies[0]?.text).toBe('Are you sure?')
    expect(talk.open()).toEqual(['films'])
  })
})
