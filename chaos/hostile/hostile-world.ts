import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/**
 * A world whose tools take everything that JSON can say, and whose total shows whether an honest player was disturbed.
 */
export const hostileWorld = defineEnvironment({
  name: 'besieged',
  version: '1.0.0',
  description: 'Adds up amounts, and takes whatever it is given.',
  handle: false,
  params: z.object({ options: z.record(z.string(), z.json()).default({}) }),
  state: { public: z.object({ total: z.int() }), private: z.object({ calls: z.int() }) },
  limits: { steps: 1_000_000 },
  start: () => ({ public: { total: 0 }, private: { calls: 0 } }),
  observe: ({ total }) => `The total is ${total}.`,
  tools: ({ tool }) => ({
    add: tool({
      description: 'Add an amount.',
      input: z.object({ amount: z.int().min(-1_000).max(1_000), note: z.string().optional() }),
      play({ state, input, say }) {
        state.private.calls += 1
        state.public.total = (state.public.total + input.amount) % 1_000_003
        return say(`Added ${input.amount}.`)
      },
    }),
    take: tool({
      description: 'Take anything.',
      input: z.object({ value: z.json(), tags: z.array(z.string()).default([]) }),
      play({ state, input, say }) {
        state.private.calls += 1
        return say(`Took ${Array.isArray(input.value) ? 'a list' : typeof input.value}.`)
      },
    }),
  }),
  rewards: { cost: () => -0.01 },
})
