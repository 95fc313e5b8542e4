import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/**
 * A world that a lost or a doubled step cannot hide in: its total is the sum of what it was given, and so is the sum
 * of its rewards. With every answer it says its `mark`, so that an answer that went to somebody else is recognised.
 */
export const environment = defineEnvironment({
  name: 'ledger',
  version: '1.0.0',
  description: 'Adds up what it is given.',
  handle: false,
  params: z.object({ entries: z.int().min(1).default(50), mark: z.string().default('') }),
  state: { public: z.object({ mark: z.string(), total: z.int(), entries: z.int() }), private: z.object({}) },
  limits: { steps: 1_000_000 },
  start: ({ params }) => ({ public: { mark: params.mark, total: 0, entries: 0 }, private: {} }),
  observe: ({ mark, total }) => `${mark} has a total of ${total}.`,
  tools: ({ tool }) => ({
    add: tool({
      description: 'Add an amount.',
      // A note is kept with its step, and makes what a session has to tell as long as a caller likes.
      input: z.object({ amount: z.int(), note: z.string().max(60_000).optional() }),
      play({ state, input, params, end, say }) {
        state.public.total += input.amount
        state.public.entries += 1
        if (state.public.entries === params.entries) end('full')
        return say(`${state.public.mark} has a total of ${state.public.total} in ${state.public.entries} entries.`)
      },
    }),
  }),
  rewards: { amount: ({ before, after }) => after.public.total - before.public.total },
})
