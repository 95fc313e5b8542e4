import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** Numbers that one step looks at: about half a millisecond of arithmetic. */
const SPAN = 500

/** A world whose rules compute: what several processes are for. */
export const environment = defineEnvironment({
  name: 'searching',
  version: '1.0.0',
  description: 'Look for the number whose Collatz sequence is the longest.',
  params: z.object({}),
  state: { public: z.object({ best: z.int(), length: z.int() }), private: z.object({}) },
  limits: { steps: 1_000_000 },
  start: () => ({ public: { best: 1, length: 0 }, private: {} }),
  observe: ({ best, length }) => `${best} takes ${length} steps.`,
  tools: ({ tool }) => ({
    search: tool({
      description: `Look at ${SPAN} numbers from one on.`,
      input: z.object({ from: z.int().min(1).max(1_000_000) }),
      output: z.object({ best: z.int(), length: z.int() }),
      play({ state, input, say }) {
        for (let number = input.from; number < input.from + SPAN; number++) {
          const length = stepsToOne(number)
          if (length > state.public.length) state.public = { best: number, length }
        }
        return say('Looked.', { ...state.public })
      },
    }),
  }),
  rewards: { longer: ({ before, after }) => after.public.length - before.public.length },
})

/** Goes through the numbers in turn, from where its seed says. */
export const solver = definePolicy({
  name: 'in-turn',
  start({ seed }) {
    let from = 1 + (Number.parseInt(seed.slice(0, 6), 16) % 500_000)
    return () => {
      from += SPAN
      return { tool: 'search', arguments: { from } }
    }
  },
})

/** How often a number is halved, or trebled and raised by one, until it is one. */
function stepsToOne(number: number): number {
  let length = 0
  for (let n = number; n !== 1; length++) n = n % 2 === 0 ? n / 2 : 3 * n + 1
  return length
}
