import { defineEnvironment } from 'episodic'
import { z } from 'zod'

export const environment = defineEnvironment({
  name: 'secret-number',
  version: '1.0.0',
  description: 'Find a number from 1 to 10.',
  state: { public: z.object({}), private: z.object({ secret: z.int() }) },
  start: ({ rng }) => ({ public: {}, private: { secret: rng.int(1, 10) } }),
  observe: () => 'Which number from 1 to 10?',
  tools: ({ tool }) => ({
    guess: tool({
      description: 'Guess the number.',
      input: z.object({ value: z.int().min(1).max(10).describe('Your guess.') }),
      play({ state, input, reveal, end, say }) {
        const way = reveal(Math.sign(state.private.secret - input.value))
        if (way === 0) end('found')
        return say(way === 0 ? 'Found.' : way > 0 ? 'Too low.' : 'Too high.')
      },
    }),
  }),
  rewards: { found: ({ end }) => (end?.reason === 'found' ? 1 : 0), guess: () => -0.1 },
})
