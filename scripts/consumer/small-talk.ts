import { conversationEnvironment, defineContext, defineConversation } from '@episodic/contexts'
import { createRulesInterpreter } from '@episodic/contexts/interpret'
import { z } from 'zod'

const greeting = defineContext({
  name: 'greeting',
  description: 'a greeting',
  data: z.object({ greeted: z.boolean().default(false) }),
  intents: { greet: z.object({}).describe('say hello') },
  opens: { greet: {} },
  initial: 'greeted',
  states: { greeted: { final: true, entry: ({ say }) => say('Hello to you.') } },
})

/** A conversation of one word. */
export const smallTalk = conversationEnvironment(
  defineConversation({
    name: 'small-talk',
    contexts: [greeting],
    interpreter: createRulesInterpreter({ greet: { phrases: ['(hello|hi)'] } }),
  }),
  {
    version: '1.0.0',
    description: 'Say hello.',
    params: z.object({}),
    goal: { schema: z.object({}), draw: () => ({}), describe: () => 'Say hello.', reached: () => false },
  },
)
