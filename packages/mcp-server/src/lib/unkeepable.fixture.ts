import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

const WAYS = ['cycle', 'depth', 'getter', 'hostile getter', 'shared key', 'shared key and throw'] as const

/** A world whose tools leave what cannot be kept or said, each in its own way, and one that is good. */
export const unkeepable = defineEnvironment({
  name: 'unkeepable',
  version: '1.0.0',
  description: 'Leaves what cannot be kept.',
  params: z.object({}),
  state: { public: z.object({ steps: z.int() }), private: z.object({ odd: z.unknown() }) },
  limits: { bytes: 60_000_000 },
  start: () => ({ public: { steps: 0 }, private: { odd: null } }),
  observe: ({ steps }) => `${steps} steps.`,
  tools: ({ tool }) => ({
    leave: tool({
      description: 'Leaves it.',
      input: z.object({ way: z.enum(WAYS) }),
      play({ state, input, say }) {
        state.public.steps += 1
        state.private.odd = leave[input.way]()
        return say('Left.')
      },
    }),
    shout: tool({
      description: 'Says a long text.',
      input: z.strictObject({ bytes: z.int() }),
      play({ state, input, say }) {
        state.public.steps += 1
        return say('y'.repeat(input.bytes))
      },
    }),
  }),
  rewards: {},
})

const leave: Readonly<Record<(typeof WAYS)[number], () => unknown>> = {
  cycle() {
    const cycle: Record<string, unknown> = {}
    cycle.itself = cycle
    return cycle
  },
  depth() {
    let nest: unknown = []
    for (let level = 0; level < 100_000; level++) nest = [nest]
    return nest
  },
  getter: () => Object.defineProperty({}, 'odd', { get: fail, enumerable: true }),
  'hostile getter': () => Object.defineProperty({}, 'odd', { get: failOddly, enumerable: true }),
  'shared key': () => Object.assign(Object.prototype, { polluted: 'by a world' }) && null,
  'shared key and throw': () => Object.assign(Object.prototype, { polluted: 'by a world' }) && fail(),
}

function fail(): never {
  throw new Error('The getter throws.')
}

function failOddly(): never {
  throw Object.defineProperty({}, 'message', { get: fail })
}
