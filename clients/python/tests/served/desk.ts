import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** A conversation, in which words are a move: the customer says two things, and then is content. */
export const environment = defineEnvironment({
  name: 'desk',
  version: '1.0.0',
  description: 'Help the customer.',
  state: { public: z.object({ said: z.int() }), private: z.object({}) },
  start: () => ({ public: { said: 0 }, private: {} }),
  observe: ({ said }) => (said === 0 ? 'My phone is dead.' : ''),
  speech: 'say',
  tools: ({ tool }) => ({
    say: tool({
      description: 'Say something to the customer.',
      input: z.object({ text: z.string().min(1).max(1_000) }),
      play({ state, end, say }) {
        state.public.said += 1
        if (state.public.said === 2) end('content')
        return say(state.public.said === 2 ? 'Thanks.' : 'It is 42.')
      },
    }),
    look_up: tool({
      description: 'Look a number up.',
      input: z.object({ number: z.int() }),
      play: ({ input, say }) => say(`${input.number} is known.`),
    }),
  }),
  rewards: { said: ({ tool }) => (tool === 'say' ? 1 : 0) },
})
