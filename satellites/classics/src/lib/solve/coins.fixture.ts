import { defineEnvironment } from '@episodic/mcp-server'
import type { Rng } from '@episodic/protocol'
import { z } from 'zod'

/** How the chance of the world is drawn. */
export type Draw = (rng: Rng) => number

/** Toss for coins, up to a purse of three; stop at any time, or lose everything when a toss gives nothing. */
export const coins = (draw: Draw) =>
  defineEnvironment({
    name: 'coins',
    version: '1.0.0',
    description: 'Toss for coins, and stop in time.',
    state: { public: z.object({ coins: z.int().min(0).max(3) }), private: z.object({}) },
    limits: { steps: 10 },
    start: () => ({ public: { coins: 0 }, private: {} }),
    observe: ({ coins: held }) => `You hold ${held}.`,
    tools: ({ tool }) => ({
      act: tool({
        description: 'Toss, or stop.',
        input: z.object({ action: z.enum(['toss', 'stop']) }),
        play({ state, input, rng, end, say }) {
          if (input.action === 'stop') end('stopped')
          else {
            const won = draw(rng)
            state.public.coins = won === 0 ? 0 : Math.min(3, state.public.coins + won)
            if (won === 0) end('lost')
          }
          return say('Done.')
        },
      }),
    }),
    rewards: { paid: ({ before, end }) => (end?.reason === 'stopped' ? before.public.coins : 0) },
  })
