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
})
