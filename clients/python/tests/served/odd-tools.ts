import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/**
 * Counts what is added. Its tools have every kind of argument, and names that Python does not allow or already uses.
 */
export const environment = defineEnvironment({
  name: 'odd-tools',
  version: '2.0.0',
  description: 'Count, with tools of odd names.',
  handle: false,
  params: z.object({ start: z.int().default(0), end: z.int().default(10) }),
  state: { public: z.object({ count: z.int(), end: z.int() }), private: z.object({ secret: z.int() }) },
  start: ({ params, rng }) => ({
    public: { count: params.start, end: params.end },
    private: { secret: rng.int(0, 1_000_000) },
  }),
  observe: ({ count, end }) => `The count is ${count} of ${end}.`,
  events: ({ event }) => ({
    bonus: event({
      description: 'Adds to the count from outside.',
      data: z.object({ by: z.int() }),
      apply({ state, data }) {
        state.public.count += data.by
      },
    }),
  }),
  legal: ({ count }) => ({ 'count-up': true, note: true, ...(count > 0 && { reset: true }) }),
  tools: ({ tool }) => ({
    'count-up': tool({
      description: 'Adds to the count.',
      input: z.object({
        by: z.int().min(1).max(3).describe('How much to add.'),
        twice: z.boolean().default(false).describe('Whether to add it twice.'),
      }),
      play({ state, input, end, say }) {
        state.public.count += input.by * (input.twice ? 2 : 1)
        if (state.public.count >= state.public.end) end('counted')
        return say('Counted.')
      },
    }),
    reset: tool({
      description: 'Sets the count back.',
      input: z.object({}),
      play({ state, say }) {
        state.public.count = 0
        return say('The count was set back.')
      },
    }),
    note: tool({
      description: 'Takes a note of anything.',
      input: z.object({
        text: z.string().describe('What to note.'),
        class: z.enum(['low', 'high']).optional().describe('How important it is.'),
        numbers: z.array(z.number()).default([]).describe('Numbers to note.'),
        fields: z.record(z.string(), z.string()).optional(),
      }),
      play({ say }) {
        return say('Noted.')
      },
    }),
  }),
  rewards: { counted: ({ end }) => (end?.reason === 'counted' ? 1 : 0), cost: () => -0.1 },
  success: ({ end }) => end?.reason === 'counted',
  verdicts: { even: ({ state }) => state.public.count % 2 === 0 },
})
