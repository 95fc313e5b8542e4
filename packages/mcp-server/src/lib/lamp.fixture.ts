import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** A world with a secret side: what is told of it, and when, has to depend on the other side alone. */
export const lamp = defineEnvironment({
  name: 'lamp',
  version: '1.0.0',
  description: 'A lamp, and a switch that sometimes does nothing.',
  params: z.object({}),
  state: { public: z.object({ lit: z.boolean() }), private: z.object({ presses: z.int() }) },
  start: () => ({ public: { lit: false }, private: { presses: 0 } }),
  observe: ({ lit }) => (lit ? 'It is lit.' : 'It is dark.'),
  tools: ({ tool }) => ({
    press: tool({
      description: 'Presses the switch.',
      input: z.object({ works: z.boolean() }),
      play({ state, input, say }) {
        state.private.presses += 1
        state.public.lit = state.public.lit !== input.works
        return say('Pressed.')
      },
    }),
  }),
  rewards: { lit: ({ after }) => (after.public.lit ? 1 : 0) },
})
