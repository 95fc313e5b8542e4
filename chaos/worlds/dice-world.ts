import { setTimeout as pause } from 'node:timers/promises'
import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { createRng } from '@episodic/protocol'
import { z } from 'zod'

/** Milliseconds that the solver waits before a roll, so that faults hit episodes that are being played. */
const WAIT = 5

/**
 * A world whose episodes depend on the seeds of their task and of their policy in every step: an episode that was
 * played with another's seed, or with a roll lost or doubled, has other bytes.
 */
export const environment = defineEnvironment({
  name: 'dice',
  version: '1.0.0',
  description: 'Roll dice until they sum to 40.',
  params: z.object({}),
  state: { public: z.object({ total: z.int(), rolls: z.int() }), private: z.object({}) },
  limits: { steps: 100 },
  start: () => ({ public: { total: 0, rolls: 0 }, private: {} }),
  observe: ({ total, rolls }) => `The total is ${total} after ${rolls} rolls.`,
  tools: ({ tool }) => ({
    roll: tool({
      description: 'Roll one or two dice.',
      input: z.object({ dice: z.int().min(1).max(2) }),
      play({ state, input, rng, end, say }) {
        for (let die = 0; die < input.dice; die++) state.public.total += rng.int(1, 6)
        state.public.rolls += 1
        if (state.public.total >= 40) end('reached')
        return say('Rolled.')
      },
    }),
  }),
  rewards: { rolled: ({ before, after }) => after.public.total - before.public.total },
})

/** Rolls one die or two, as its seed draws, and waits before each roll. */
export const solver = definePolicy({
  name: 'waiting',
  start({ seed }) {
    const rng = createRng(seed).stream('dice')
    return async () => {
      await pause(WAIT)
      return { tool: 'roll', arguments: { dice: rng.int(1, 2) } }
    }
  },
})
