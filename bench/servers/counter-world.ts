import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** A world that never ends and never grows: what is measured with it is everything but the world. */
export const counter = defineEnvironment({
  name: 'counter',
  version: '1.0.0',
  description: 'Adds up whole numbers.',
  params: z.object({}),
  state: { public: z.object({ total: z.int() }), private: z.object({ steps: z.int() }) },
  limits: { steps: 1_000_000 },
  start: () => ({ public: { total: 0 }, private: { steps: 0 } }),
  observe: ({ total }) => `The total is ${total}.`,
  tools: ({ tool }) => ({
    add: tool({
      description: 'Add a number.',
      input: z.object({ note: z.string(), n: z.int() }),
      output: z.object({ note: z.string(), total: z.int() }),
      play({ state, input, say }) {
        state.private.steps += 1
        state.public.total = (state.public.total + input.n) % 1_000_003
        return say(`Added ${input.n}.`, { note: input.note, total: state.public.total })
      },
    }),
  }),
  rewards: { cost: () => -0.01 },
})
