import { definePolicy } from '@episodic/env'
import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const SIDES = ['left', 'right'] as const

/**
 * A customer asks for a side, and the clerk hands it over. `greeting` is what each greeting earns the clerk. If
 * `rival`, the customer pays what the clerk earns.
 */
export function counterGame({
  greeting = -0.01,
  rival = false,
}: {
  readonly greeting?: number
  readonly rival?: boolean
} = {}) {
  const ofSeat = (seat: string, earned: number) => (seat === 'clerk' ? earned : rival ? -earned : 0)
  const environment = defineGame({
    name: 'counter',
    version: '1.0.0',
    description: 'A customer asks, and the clerk hands over what was asked for.',
    seats: ['clerk', 'customer'],
    utility: rival ? 'zero-sum' : 'general',
    state: {
      public: z.object({ asked: z.enum(['nothing', ...SIDES]), greeted: z.int() }),
      own: z.object({ wish: z.enum(['none', ...SIDES]) }),
      private: z.object({}),
    },
    limits: { steps: 8 },
    start: ({ rng }) => ({
      public: { asked: 'nothing', greeted: 0 },
      own: { clerk: { wish: 'none' }, customer: { wish: rng.pick(SIDES) } },
      private: {},
    }),
    turn: ({ asked }) => (asked === 'nothing' ? 'customer' : 'clerk'),
    observe: ({ seat, own, public: { asked } }) =>
      seat === 'customer' ? `You wish for ${own.wish}.` : `The customer asks for ${asked}.`,
    tools: ({ tool }) => ({
      ask: tool({
        description: 'Ask for a side.',
        seats: ['customer'],
        input: z.object({ side: z.enum(SIDES).describe('Which one.') }),
        play({ state, input, say, reveal }) {
          state.public.asked = reveal(input.side)
          return say('You ask.')
        },
      }),
      greet: tool({
        description: 'Greet the customer.',
        seats: ['clerk'],
        input: z.object({}),
        play({ state, say }) {
          state.public.greeted += 1
          return say('The customer nods.')
        },
      }),
      hand: tool({
        description: 'Hand a side over.',
        seats: ['clerk'],
        input: z.object({ side: z.enum(SIDES).describe('Which one.') }),
        play({ state, input, end, say }) {
          end(state.public.asked === input.side ? 'served' : 'wrong')
          return say('It is handed over.')
        },
      }),
    }),
    rewards: {
      served: ({ seat, end }) => ofSeat(seat, end?.reason === 'served' ? 1 : 0),
      greeting: ({ seat, before, after }) => ofSeat(seat, after.public.greeted > before.public.greeted ? greeting : 0),
    },
  })
  const solver = definePolicy({
    name: 'solver',
    start:
      ({ seat }) =>
      ({ text }) => {
        const side = text.includes('left') ? 'left' : 'right'
        return { tool: seat === 'customer' ? 'ask' : 'hand', arguments: { side } }
      },
  })
  return { environment, solver }
}
