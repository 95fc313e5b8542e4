import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const CHOICES = ['left', 'right'] as const

/** Two seats choose at once, for some rounds: both are paid if they choose the same. */
export const environment = defineGame({
  name: 'meeting',
  version: '1.0.0',
  description: 'Choose the side that the other one chooses.',
  seats: ['ann', 'bob'],
  params: z.object({ rounds: z.int().min(1).max(100).default(3) }),
  state: {
    public: z.object({ met: z.array(z.boolean()) }),
    own: z.object({ choice: z.enum(CHOICES).nullable() }),
    private: z.object({}),
  },
  start: () => ({ public: { met: [] }, own: { ann: { choice: null }, bob: { choice: null } }, private: {} }),
  turn: () => ['ann', 'bob'],
  observe: ({ public: { met } }) => `Met ${met.filter(Boolean).length} times in ${met.length} rounds.`,
  legal: () => ({ choose: CHOICES.map((choice) => ({ choice })) }),
  tools: ({ sealed }) => ({
    choose: sealed({
      description: 'Choose a side.',
      input: z.object({ choice: z.enum(CHOICES) }),
      play({ own, input }) {
        own.choice = input.choice
      },
    }),
  }),
  settle({ state, params, end }) {
    state.public.met.push(state.own.ann.choice === state.own.bob.choice)
    for (const own of Object.values(state.own)) own.choice = null
    if (state.public.met.length === params.rounds) end('over')
  },
  rewards: {
    met: ({ before, after }) => (after.public.met.length > before.public.met.length && after.public.met.at(-1) ? 1 : 0),
  },
})
