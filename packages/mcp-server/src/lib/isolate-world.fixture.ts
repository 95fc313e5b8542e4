import { isMainThread } from 'node:worker_threads'
import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** Rounds at which secrets are listed for ever. */
const BURIED = 1_000

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
  secrets({ public: { rounds } }) {
    if (rounds === BURIED) for (;;);
    if (rounds < 0) throw new Error('Who knows.')
    return [isMainThread ? 'listed in the server' : `listed in a thread at ${rounds}`]
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
    bury: tool({
      description: 'Comes to where secrets are listed for ever, or not at all.',
      input: z.object({ rounds: z.literal([BURIED, -1]) }),
      play({ state, input, say }) {
        state.public.rounds = input.rounds
        return say('Buried.')
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
    postpone: tool({
      description: 'Leaves something for later.',
      input: z.object({ by: z.enum(['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']) }),
      play({ input, say }) {
        globalThis[input.by](() => {})
        return say('Later.')
      },
    }),
    abandon: tool({
      description: 'Leaves a promise that fails.',
      input: z.object({}),
      play({ say }) {
        void Promise.reject(new Error('Nobody caught this.'))
        return say('Abandoned.')
      },
    }),
    litter: tool({
      description: 'Leaves something behind that ends the thread of whoever stumbles over it.',
      input: z.object({}),
      play({ say }) {
        littered = true
        return say('Littered.')
      },
    }),
    stroll: tool({
      description: 'Stumbles over what was left behind.',
      input: z.object({}),
      play: ({ say }) => (littered ? process.exit(4) : say('Strolled.')),
    }),
    inflate: tool({
      description: 'Keeps what is outside of the heap.',
      input: z.object({}),
      play({ say }) {
        balloons.push(new Uint8Array(300_000_000))
        return say(`Balloon ${balloons.length}.`)
      },
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

// What rules should not have: something of their own that outlives a call.
let littered = false
const balloons: Uint8Array[] = []

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
