import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineContext } from '../define/define-context.ts'
import { defineConversation } from '../define/define-conversation.ts'
import { talkTo } from '../fixtures/talk.fixture.ts'
import { commandRules } from './command-rules.ts'
import { day } from './date-entity.ts'
import { createRulesInterpreter } from './rules-interpreter.ts'

/** Asks for a day, and confirms it. */
const visit = defineContext({
  name: 'visit',
  description: 'your visit',
  data: z.object({ day: z.string().nullable().default(null) }),
  intents: {
    'plan-visit': z.object({ day: z.string().optional() }),
    thank: z.object({}),
    'ask-money': z.object({}),
  },
  opens: { 'plan-visit': { effect: ({ data, slots }) => Object.assign(data, slots) } },
  initial: 'planning',
  states: {
    planning: {
      on: {
        'plan-visit': { effect: ({ data, slots }) => Object.assign(data, slots) },
        thank: { effect: ({ say }) => say('You are welcome.') },
        'ask-money': { effect: ({ say }) => say('It is free.') },
      },
      prompt: ({ data }) => `A visit on ${data.day ?? 'which day?'}`,
    },
  },
})

const visits = defineConversation({
  name: 'visits',
  contexts: [visit],
  interpreter: createRulesInterpreter({
    'plan-visit': {
      phrases: ['(plan|book)? a visit', 'come (by)?'],
      beside: ['at', 'end', 'end of'],
      slots: { day: { entity: day() } },
    },
    thank: { phrases: ['(thanks|thank you)'] },
    'ask-money': { phrases: ['money back', '(how much|price)'] },
    ...commandRules,
  }),
})

/** The replies to an utterance while a visit is open, and the stack after it. */
function hear(text: string) {
  const talk = talkTo(visits)
  talk.say('plan a visit')
  const { replies, intent, record } = talk.say(text)
  return { intent, ended: record.public.ended, open: talk.open(), said: replies.map((reply) => reply.text) }
}

describe('commandRules', () => {
  it.each([
    'bye',
    'Goodbye!',
    'ok, bye bye',
    'Thank you, goodbye.',
    'thanks, see you later',
    "That's all.",
    "No, that's all, thank you",
    "ok thanks, that'll be all",
    'That was it for today',
    'end',
    'exit',
    'Please end the conversation',
    'stop this chat now',
  ])('ends the conversation by "%s"', (text) => {
    expect(hear(text)).toMatchObject({ intent: 'end', ended: 'ended-by-user' })
  })

  it.each([
    'I come at the end of May',
    'a visit on 3 May, that is all',
    'the end',
    'that is all I know of the money back',
    'by the way, how much?',
    'buy',
    'the weekend',
  ])('ends nothing by "%s"', (text) => {
    expect(hear(text)).toMatchObject({ ended: null, open: ['visit'] })
  })

  it.each(['cancel', 'Cancel that, please', 'never mind', 'no, forget it', 'I changed my mind', 'stop'])(
    'gives up what is going on by "%s"',
    (text) => {
      expect(hear(text)).toMatchObject({ intent: 'cancel', open: [], ended: null })
    },
  )

  it.each([
    ['I changed my mind, I come on 3 May', 'plan-visit'],
    ['do I get my money back', 'ask-money'],
    ['go back', null],
  ])('gives up nothing by "%s"', (text, intent) => {
    expect(hear(text)).toMatchObject({ intent, open: ['visit'] })
  })
})

describe('the words of a conversation itself', () => {
  it('name a cancelled context with nothing below it', () => {
    expect(hear('cancel').said).toEqual(['All right, we drop your visit. What else can I do for you?'])
  })

  it('say goodbye, and name what stays unfinished', () => {
    expect(hear('bye').said).toEqual(['Goodbye. We leave your visit unfinished.'])
    expect(talkTo(visits).say('bye').replies).toMatchObject([{ text: 'Goodbye.', context: null }])
  })

  it('say that there is nothing to cancel or to go back to, and the active context asks again', () => {
    expect(hear('go back').said).toEqual(['There is nothing to go back to.', 'A visit on which day?'])
    expect(talkTo(visits).say('never mind').replies).toMatchObject([{ text: 'There is nothing to cancel.' }])
  })

  it('can be chosen by the author', () => {
    const terse = talkTo(
      defineConversation({
        name: 'terse',
        contexts: [visit],
        fallback: (reason, { active }) => [reason.kind, active?.context ?? 'nothing'].join(' with '),
      }),
    )
    terse.take({ kind: 'act', intent: 'plan-visit', slots: {}, now: 0 })
    const cancelled = terse.take({ kind: 'command', command: { name: 'cancel' }, now: 0 })
    expect(cancelled.replies.map(({ text }) => text)).toEqual(['cancelled with nothing'])
    terse.take({ kind: 'act', intent: 'plan-visit', slots: {}, now: 0 })
    const ended = terse.take({ kind: 'command', command: { name: 'end' }, now: 0 })
    expect(ended.replies.map(({ text }) => text)).toEqual(['ended with visit'])
  })
})
