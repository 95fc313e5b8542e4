import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** A world that judges what its player has left: what was sown. One that was salted cannot be judged. */
export const environment = defineEnvironment({
  name: 'garden',
  version: '1.0.0',
  description: 'Sow.',
  state: { public: z.object({ sown: z.int(), salted: z.boolean() }), private: z.object({ score: z.number() }) },
  start: () => ({ public: { sown: 0, salted: false }, private: { score: 0 } }),
  observe: ({ sown }) => `${sown} sown.`,
  tools: ({ tool }) => ({
    sow: tool({
      description: 'Sows.',
      input: z.object({}),
      play({ state, say }) {
        state.public.sown += 1
        return say('')
      },
    }),
    salt: tool({
      description: 'Salts.',
      input: z.object({}),
      play({ state, say }) {
        state.public.salted = true
        return say('')
      },
    }),
  }),
  absent: ({ tool }) =>
    tool({
      description: 'Judges.',
      input: z.object({}),
      prepared: z.number(),
      async prepare({ state }) {
        if (state.public.salted) throw new Error('Nothing grows.')
        return state.public.sown
      },
      play({ state, prepared, say }) {
        state.private.score = prepared
        return say('')
      },
    }),
  rewards: { score: ({ before, after }) => after.private.score - before.private.score },
  success: ({ state }) => state.private.score >= 1,
})
