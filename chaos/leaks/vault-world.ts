import { defineEnvironment, type EnvironmentDefinition } from '@episodic/mcp-server'
import { z } from 'zod'

const LARGEST = 15

/** A vault with a code and a word. A try reveals whether the code is higher or lower; a look reveals nothing new. */
export function createVault(): EnvironmentDefinition {
  return defineEnvironment({
    name: 'vault',
    version: '1.0.0',
    description: 'Open a vault.',
    handle: false,
    params: z.object({}),
    state: {
      public: z.object({ tries: z.int().min(0), low: z.int(), high: z.int() }),
      private: z.object({ word: z.string(), code: z.int() }),
    },
    limits: { steps: 20 },
    start: ({ rng }) => ({
      public: { tries: 0, low: 0, high: LARGEST },
      private: {
        word: Array.from({ length: 12 }, () => rng.pick([...'abcdefghijklmnop'])).join(''),
        code: rng.int(0, LARGEST),
      },
    }),
    observe: ({ tries, low, high }) => `${tries} tries so far. The code is from ${low} to ${high}.`,
    tools: ({ tool }) => ({
      look: tool({ description: 'Look at the vault.', input: z.object({}), play: ({ say }) => say('A vault.') }),
      try: tool({
        description: 'Try a code.',
        input: z.object({ code: z.int().min(0).max(LARGEST).describe('The code to try.') }),
        output: z.object({ hint: z.enum(['higher', 'lower', 'open']) }),
        play({ state, input, reveal, end, say }) {
          const { code } = state.private
          const hint = reveal(input.code === code ? 'open' : input.code < code ? 'higher' : 'lower')
          state.public.tries += 1
          if (hint === 'open') end('open')
          else if (hint === 'higher') state.public.low = Math.max(state.public.low, input.code + 1)
          else state.public.high = Math.min(state.public.high, input.code - 1)
          return say(`${input.code}: ${hint}.`, { hint })
        },
      }),
    }),
    rewards: { open: ({ end }) => (end?.reason === 'open' ? 1 : 0), cost: () => -0.01 },
  })
}
