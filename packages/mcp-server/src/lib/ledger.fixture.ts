import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** A world that defines success by its private state: no more was spent than the budget, however the episode ended. */
export const ledger = defineEnvironment({
  name: 'ledger',
  version: '1.0.0',
  description: 'Spend no more than you may.',
  params: z.object({ budget: z.int().default(1) }),
  state: { public: z.object({ calls: z.int() }), private: z.object({ spent: z.int() }) },
  limits: { steps: 3 },
  start: () => ({ public: { calls: 0 }, private: { spent: 0 } }),
  observe: ({ calls }) => `${calls} calls.`,
  tools: ({ tool }) => ({
    look: tool({
      description: 'Does nothing.',
      input: z.object({}),
      play: ({ say }) => say('You look.'),
    }),
    spend: tool({
      description: 'Spends 1.',
      input: z.object({}),
      play({ state, say }) {
        state.public.calls += 1
        state.private.spent += 1
        return say('Spent.')
      },
    }),
    stop: tool({
      description: 'Ends the day.',
      input: z.object({}),
      play({ end, say }) {
        end('stopped')
        return say('Stopped.')
      },
    }),
  }),
  rewards: { spent: ({ tool }) => (tool === 'spend' ? 1 : 0) },
  success: ({ state, params }) => (params.budget < 0 ? ('perhaps' as never) : state.private.spent <= params.budget),
})
