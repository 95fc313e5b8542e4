import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { beliefValue, transitionTable, valueIteration } from '../../solve.ts'
import { coins } from './coins.fixture.ts'

/** A coin lies under one of three cups, twice as often under the first; looking under a cup shows what is there. */
const cups = defineEnvironment({
  name: 'cups',
  version: '1.0.0',
  description: 'Find the coin.',
  state: { public: z.object({ empty: z.array(z.int()) }), private: z.object({ cup: z.int() }) },
  start: ({ rng }) => ({ public: { empty: [] }, private: { cup: rng.pick([0, 0, 1, 2]) } }),
  observe: ({ empty }) => `Empty: ${empty.join(', ')}.`,
  legal: ({ empty }) => ({ look: [0, 1, 2].filter((cup) => !empty.includes(cup)).map((cup) => ({ cup })) }),
  tools: ({ tool }) => ({
    look: tool({
      description: 'Look under a cup.',
      input: z.object({ cup: z.int().min(0).max(2) }),
      play({ state, input, end, say }) {
        if (state.private.cup === input.cup) end('found')
        else state.public.empty.push(input.cup)
        return say('You looked.')
      },
    }),
  }),
  rewards: { cost: () => -1 },
})

describe('beliefValue', () => {
  it('is what the best player earns that does not see the private state', () => {
    expect(beliefValue(cups)).toBeCloseTo(-(0.5 * 1 + 0.25 * 2 + 0.25 * 3), 12)
    // A player that saw it would need one look.
    expect(valueIteration(transitionTable(cups)).start).toBe(-1)
  })

  it('is what a given policy earns, or the uniform one', () => {
    const backwards = ({ empty }: { readonly empty?: unknown }) => ({
      tool: 'look',
      arguments: { cup: 2 - (empty as number[]).length },
    })
    expect(beliefValue(cups, { policy: backwards })).toBeCloseTo(-(0.25 * 1 + 0.25 * 2 + 0.5 * 3), 12)
    expect(beliefValue(cups, { policy: 'uniform' })).toBeCloseTo(-2, 12)
  })

  it('rejects episodes that can go on for ever', () => {
    expect(() => beliefValue(coins(() => 1))).toThrow(expect.objectContaining({ code: 'option-invalid' }))
  })
})
