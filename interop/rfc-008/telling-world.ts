import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** A world that fails its check: what it answers depends on what it hides, beyond what it reveals. */
export const environment = defineEnvironment({
  name: 'telling',
  version: '1.0.0',
  description: 'Say which of nine numbers is hidden.',
  params: z.object({}),
  state: { public: z.object({ tries: z.int() }), private: z.object({ hidden: z.int().min(1).max(9) }) },
  limits: { steps: 9 },
  start: ({ rng }) => ({ public: { tries: 0 }, private: { hidden: rng.int(1, 9) } }),
  observe: ({ tries }) => `${tries} tries.`,
  tools: ({ tool }) => ({
    guess: tool({
      description: 'Say a number.',
      input: z.object({ value: z.int().min(1).max(9).describe('The number.') }),
      output: z.object({}),
      play({ state, input, end, reveal, say }) {
        state.public.tries += 1
        if (reveal(input.value === state.private.hidden)) end('found')
        return say(state.private.hidden > 5 ? 'It is a large one.' : 'It is a small one.', {})
      },
    }),
  }),
  rewards: { found: ({ end }) => (end?.reason === 'found' ? 1 : 0), cost: () => -0.01 },
})

export const solver = definePolicy({
  name: 'in-turn',
  start() {
    let value = 0
    return () => ({ tool: 'guess', arguments: { value: ++value } })
  },
})
