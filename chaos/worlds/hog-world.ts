import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** A world whose rules can be made to compute for as long as one likes, as those of a chess engine might. */
export const environment = defineEnvironment({
  name: 'hog',
  version: '1.0.0',
  description: 'Counts, or computes.',
  params: z.object({}),
  state: { public: z.object({ count: z.int() }), private: z.object({}) },
  limits: { steps: 1_000_000 },
  start: () => ({ public: { count: 0 }, private: {} }),
  observe: ({ count }) => `The count is ${count}.`,
  tools: ({ tool }) => ({
    count: tool({
      description: 'Count one.',
      input: z.object({}),
      play({ state, say }) {
        state.public.count += 1
        return say('Counted.')
      },
    }),
    compute: tool({
      description: 'Count one, and keep a core busy; without an end where no seconds are given.',
      input: z.object({ seconds: z.number().optional() }),
      play({ state, input: { seconds = Number.POSITIVE_INFINITY }, say }) {
        state.public.count += 1
        // Real time has no place in rules. What this stands for takes some all the same.
        for (const began = performance.now(); performance.now() - began < seconds * 1_000; );
        return say('Computed.')
      },
    }),
  }),
  rewards: { counted: ({ before, after }) => after.public.count - before.public.count },
})
