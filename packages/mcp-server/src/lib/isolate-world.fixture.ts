import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** A world whose tools do what only a thread survives, each in its own way, and one that is good. */
export const treadmill = defineEnvironment({
  name: 'treadmill',
  version: '1.0.0',
  description: 'Rules that do not come back.',
  params: z.object({ stuckAtStart: z.boolean().default(false) }),
  state: { public: z.object({ rounds: z.int(), odd: z.json() }), private: z.object({}) },
  start({ params }) {
    if (params.stuckAtStart) for (;;);
    return { public: { rounds: 0, odd: null }, private: {} }
  },
  observe: ({ rounds }) => `${rounds} rounds.`,
  tools: ({ tool }) => ({
    run: tool({
      description: 'Runs a round.',
      input: z.object({}),
      play({ state, say }) {
        state.public.rounds += 1
        return say('Ran.')
      },
    }),
    spin: tool({
      description: 'Runs for ever.',
      input: z.object({}),
      play({ state }) {
        state.public.rounds = -1
        for (;;);
      },
    }),
    hoard: tool({
      description: 'Keeps more and more.',
      input: z.object({}),
      play() {
        for (const hoard: number[][] = []; ; ) hoard.push(Array.from({ length: 100_000 }, (_, i) => i + 0.5))
      },
    }),
    leave: tool({
      description: 'Ends whatever it runs in.',
      input: z.object({}),
      play: () => process.exit(3),
    }),
    collect: tool({
      description: 'Leaves a state that JSON cannot say.',
      input: z.object({ what: z.enum(['class', 'undefined', 'number', 'zero', 'function', 'text']) }),
      play({ state, input, say }) {
        state.public.odd = ODDITIES[input.what] as never
        return say('Collected.')
      },
    }),
    babble: tool({
      description: 'Throws what is no error.',
      input: z.object({}),
      play() {
        throw 'no error at all'
      },
    }),
  }),
  rewards: { rounds: ({ before, after }) => after.public.rounds - before.public.rounds },
})

class Keepsake {
  readonly year = 1999
}

const ODDITIES = {
  class: new Keepsake(),
  undefined,
  number: Number.NaN,
  zero: -0,
  function: () => {},
  text: '\ud800',
}
