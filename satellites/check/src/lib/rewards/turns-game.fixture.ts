import { defineGame } from '@episodic/mcp-server'
import type { EpisodeEnd } from '@episodic/protocol'
import { z } from 'zod'

export interface TurnsGameOptions {
  /** The count that ends the game. */
  readonly last: number
  readonly steps: number
  /** Whether an end, or none yet, earns each seat 1 and is a success. */
  readonly pays: (end: EpisodeEnd | null) => boolean
}

/** A game of two seats that count in turn. */
export function turnsGame({ last, steps, pays }: TurnsGameOptions) {
  return defineGame({
    name: 'turns',
    version: '1.0.0',
    description: 'Count, in turn.',
    seats: ['one', 'two'],
    utility: 'general',
    state: { public: z.object({ count: z.int() }), own: z.object({}), private: z.object({}) },
    limits: { steps },
    start: () => ({ public: { count: 0 }, own: { one: {}, two: {} }, private: {} }),
    turn: ({ count }) => (count % 2 === 0 ? 'one' : 'two'),
    observe: ({ public: { count } }) => `The count is ${count}.`,
    tools: ({ tool }) => ({
      add: tool({
        description: 'Add one.',
        input: z.object({}),
        play({ state, end, say }) {
          state.public.count += 1
          if (state.public.count === last) end('counted')
          return say('Added.')
        },
      }),
    }),
    rewards: { counted: ({ end }) => (pays(end) ? 1 : 0) },
    success: ({ end }) => pays(end),
  })
}
