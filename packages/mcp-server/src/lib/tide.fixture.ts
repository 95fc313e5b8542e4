import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** A world that is moved from outside, for good and for bad: every kind of event that there is, and one tool. */
export const tide = defineEnvironment({
  name: 'tide',
  version: '1.0.0',
  description: 'Stand in the water.',
  handle: false,
  params: z.object({}),
  state: { public: z.object({ level: z.number(), notes: z.json() }), private: z.object({ pull: z.int() }) },
  history: { entries: 3, bytes: 1_000 },
  start: ({ rng }) => ({ public: { level: 0, notes: [] }, private: { pull: rng.int(1, 9) } }),
  observe: ({ level }) => `The water stands at ${level}.`,
  events: ({ event }) => ({
    rise: event({
      description: 'The water rises.',
      data: z.object({ by: z.number() }),
      apply({ state, data, rng, now, elapse, say }) {
        state.public.level += data.by * state.private.pull + rng.int(0, 3)
        elapse(60_000)
        say(`The water rises, at ${now}.`)
      },
    }),
    drown: event({ description: 'Ends it.', data: z.object({}), apply: ({ end }) => end('drowned') }),
    leak: event({
      description: 'Leaves what JSON cannot say.',
      data: z.object({ what: z.enum(['undefined', 'class', 'zero']) }),
      apply({ state, data }) {
        state.public.notes = { undefined: undefined, class: new Date(0), zero: -0 }[data.what] as never
      },
    }),
    burst: event({
      description: 'Throws.',
      data: z.object({}),
      apply() {
        throw new Error('The dam has burst.')
      },
    }),
    promise: event({
      description: 'Comes back later.',
      data: z.object({}),
      apply: (async () => {}) as never,
    }),
  }),
  tools: ({ tool }) => ({
    stand: tool({
      description: 'Stands still.',
      input: z.object({}),
      play({ rng, say }) {
        return say(`You stand, ${rng.int(1, 100)} % sure.`)
      },
    }),
  }),
  rewards: { dry: ({ after }) => -Math.abs(after.public.level), news: ({ events }) => events.length },
})
