import { defineContext } from '@episodic/contexts'
import { z } from 'zod'
import { AIRPORTS } from './airports.ts'

/** Answers greetings, thanks and questions about the assistant, and closes at once. */
export const smallTalk = defineContext({
  name: 'small-talk',
  description: 'our chat',
  data: z.object({
    about: z.enum(['greeting', 'thanks', 'well-being', 'joke', 'help', 'airports']).nullable().default(null),
  }),
  intents: {
    greet: z.object({}).describe('say hello'),
    thank: z.object({}).describe('say thank you'),
    'ask-well-being': z.object({}).describe('ask how the assistant is'),
    'ask-joke': z.object({}).describe('hear a joke'),
    'ask-help': z.object({}).describe('hear what the assistant can do'),
    'ask-airports': z.object({}).describe('hear where flights go from and to'),
  },
  initial: 'done',
  opens: {
    greet: {
      effect({ data, say }) {
        data.about = 'greeting'
        say('Hello. I book flights, tell the weather, and know about baggage and refunds.')
      },
    },
    thank: {
      effect({ data, say }) {
        data.about = 'thanks'
        say('You are welcome.')
      },
    },
    'ask-well-being': {
      effect({ data, say }) {
        data.about = 'well-being'
        say('Very well, thank you. Flights leave on time today.')
      },
    },
    'ask-joke': {
      effect({ data, say }) {
        data.about = 'joke'
        say('Why do aeroplanes never get lost? They always take the plain way.')
      },
    },
    'ask-help': {
      effect({ data, say }) {
        data.about = 'help'
        say(
          'I book flights, tell the weather, and know about baggage and refunds. Say for instance: "From Lahore to Dubai on Friday for two". You can correct everything at any time.',
        )
      },
    },
    'ask-airports': {
      effect({ data, say }) {
        data.about = 'airports'
        say(`Flights go between these: ${AIRPORTS.map(({ code, city }) => `${city} (${code})`).join(', ')}.`)
      },
    },
  },
  states: { done: { final: true } },
  result: ({ data: { about } }) => ({ about }),
})
