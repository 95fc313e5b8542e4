import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** A walk to a hidden place on a line, with slips: a secret, chance, a refusal, a fault, a potential and an end. */
export const walk = defineEnvironment({
  name: 'walk',
  version: '1.2.3',
  description: 'Walk to the hidden place.',
  handle: false,
  params: z.object({ size: z.int().min(2).max(1_000).default(10) }),
  state: { public: z.object({ at: z.int(), slips: z.int() }), private: z.object({ goal: z.int() }) },
  limits: { steps: 50 },
  start: ({ params, rng }) => ({
    public: { at: 0, slips: 0 },
    private: { goal: rng.int(1, params.size) },
  }),
  observe: ({ at }) => `You stand at ${at}.`,
  tools: ({ tool }) => ({
    move: tool({
      description: 'Move along the line.',
      input: z.object({ by: z.int().min(-3).max(3) }),
      play({ state, input, params, rng, refuse, say, end }) {
        const to = state.public.at + input.by
        if (to < 0 || to > params.size) return refuse('There is no place there.')
        if (rng.chance(0.2)) state.public.slips += 1
        else state.public.at = to
        if (state.public.at === state.private.goal) end('arrived')
        return say('You move.')
      },
    }),
    break: tool({
      description: 'Break the world.',
      input: z.object({}),
      play() {
        throw new Error('The world is broken.')
      },
    }),
  }),
  rewards: {
    arrived: ({ end }) => (end?.kind === 'terminated' ? 1 : 0),
    thrift: ({ input }) => 1 - Math.abs(Number(input.by ?? 0)) / 8,
    refused: ({ refused }) => (refused ? -0.5 : 0),
  },
  potential: ({ public: { at }, private: { goal } }, { size }) => 1 - Math.abs(goal - at) / size,
})

/** A second world, so that names matter. */
export const rest = defineEnvironment({
  name: 'rest',
  version: '1.0.0',
  description: 'Do nothing for a while.',
  params: z.object({}),
  state: { public: z.object({ waited: z.int() }), private: z.object({}) },
  start: () => ({ public: { waited: 0 }, private: {} }),
  observe: ({ waited }) => `You have waited ${waited} times.`,
  events: ({ event }) => ({
    noise: event({
      description: 'Something is heard.',
      data: z.object({ what: z.string() }),
      apply: ({ data, say }) => say(`You hear ${data.what}.`),
    }),
    dawn: event({ description: 'The night is over.', data: z.object({}), apply: ({ end }) => end('rested') }),
  }),
  tools: ({ tool }) => ({
    wait: tool({
      description: 'Wait.',
      input: z.object({}),
      play({ state, say }) {
        state.public.waited += 1
        return say('You wait.')
      },
    }),
  }),
  rewards: { time: () => -1 },
})

export const move = (by: number) => ({ tool: 'move', arguments: { by } })
