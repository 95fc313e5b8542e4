import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** Everything that a session can hold: chance, virtual time, history, refusals, a private part and an end. */
export const garden = defineEnvironment({
  name: 'garden',
  version: '1.0.0',
  description: 'Grow something.',
  handle: false,
  params: z.object({ patience: z.int().default(30) }),
  state: {
    public: z.object({ height: z.number(), memories: z.int(), now: z.number() }),
    private: z.object({ luck: z.int() }),
  },
  history: { entries: 4, bytes: 10_000 },
  start: ({ rng }) => ({ public: { height: 0, memories: 0, now: 0 }, private: { luck: rng.int(1, 1_000_000) } }),
  observe: ({ height }) => `It is ${height} high.`,
  tools: ({ tool }) => ({
    water: tool({
      description: 'Water it.',
      input: z.object({ litres: z.int() }),
      play({ state, input, params, rng, now, history, elapse, refuse, end, say }) {
        if (input.litres < 1) return refuse('That is no water.')
        elapse(input.litres)
        state.private.luck = rng.stream('weather').int(1, 1_000_000)
        state.public.height += rng.float()
        state.public.memories = history.length
        state.public.now = now
        if (state.public.height > params.patience) end('grown')
        return say('Watered.')
      },
    }),
  }),
  rewards: { growth: ({ before, after }) => after.public.height - before.public.height },
  potential: ({ public: { height }, private: { luck } }) => height + luck / 1_000_000,
})
