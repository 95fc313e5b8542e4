import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

const Count = z.object({ count: z.int() })

/** A world whose sessions a client may name in its calls: it counts to ten. */
export const tally = defineEnvironment({
  name: 'tally',
  version: '1.0.0',
  description: 'Count to ten.',
  handle: 'tally',
  params: z.object({}),
  state: { public: Count, private: z.object({}) },
  start: () => ({ public: { count: 0 }, private: {} }),
  observe: ({ count }) => `The count is ${count}.`,
  tools: ({ tool }) => ({
    add: tool({
      description: 'Add to the count.',
      input: z.object({ by: z.int().min(1).max(5) }),
      output: Count,
      play({ state, input, refuse, end, say }) {
        const count = state.public.count + input.by
        if (count > 10) return refuse('That is more than ten.')
        state.public.count = count
        if (count === 10) end('counted')
        return say(`Added ${input.by}.`, { count })
      },
    }),
  }),
  rewards: { counted: ({ end }) => (end?.reason === 'counted' ? 1 : 0) },
})

/** The same without a handle: each MCP session is one episode. */
export const plainTally: typeof tally = { ...tally, handle: null }
