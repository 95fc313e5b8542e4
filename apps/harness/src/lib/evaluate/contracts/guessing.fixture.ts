import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** A world in which a number from 1 to 10 is found in five guesses. A wrong guess costs 0.1. */
export const guessing = defineEnvironment({
  name: 'ten',
  version: '1.0.0',
  description: 'Find a number from 1 to 10.',
  params: z.object({ target: z.int().nullable().default(null) }),
  state: { public: z.object({ left: z.int() }), private: z.object({ target: z.int() }) },
  start: ({ params, rng }) => ({ public: { left: 5 }, private: { target: params.target ?? rng.int(1, 10) } }),
  observe: ({ left }) => `${left} guesses left.`,
  tools: ({ tool }) => ({
    guess: tool({
      description: 'Guess the number.',
      input: z.object({ value: z.int() }),
      play({ state, input, reveal, end, say }) {
        state.public.left -= 1
        const right = reveal(state.private.target === input.value)
        if (right) end('found')
        else if (state.public.left === 0) end('lost')
        return say(right ? 'Found.' : 'Wrong.')
      },
    }),
  }),
  rewards: {
    found: ({ end }) => (end?.reason === 'found' ? 0.9 : 0),
    wrong: ({ end }) => (end?.reason === 'found' ? 0 : -0.1),
  },
})
