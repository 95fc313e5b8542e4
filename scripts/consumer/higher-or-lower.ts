import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** A world as somebody would write it on the first day: find a number, hearing only higher or lower. */
export const higherOrLower = defineEnvironment({
  name: 'higher-or-lower',
  version: '1.0.0',
  description: 'Find the hidden number.',
  params: z.object({ high: z.int().min(1).default(7) }),
  state: { public: z.object({ high: z.int(), guesses: z.int() }), private: z.object({ target: z.int() }) },
  start: ({ params, rng }) => ({
    public: { high: params.high, guesses: 0 },
    private: { target: rng.int(1, params.high) },
  }),
  observe: ({ high, guesses }) => `A number from 1 to ${high}. ${guesses} guesses so far.`,
  tools: ({ tool }) => ({
    guess: tool({
      description: 'Guess the number.',
      input: z.object({ value: z.int() }),
      output: z.object({ hint: z.enum(['higher', 'lower', 'correct']) }),
      play({ state, input, refuse, reveal, end, say }) {
        if (input.value < 1 || input.value > state.public.high) return refuse('Out of range.')
        const distance = state.private.target - input.value
        const hint = reveal(distance > 0 ? 'higher' : distance < 0 ? 'lower' : 'correct')
        state.public.guesses += 1
        if (hint === 'correct') end('found')
        return say(hint, { hint })
      },
    }),
  }),
  rewards: { found: ({ end }) => (end?.reason === 'found' ? 1 : 0), cost: () => -0.01 },
})
