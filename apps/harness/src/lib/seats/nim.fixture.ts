import { definePolicy } from '@episodic/env'
import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const Player = z.enum(['ann', 'bob'])

/** Nim with one heap: who takes the last stone wins. Each take is announced; who does not act has lost. */
export const environment = defineGame({
  name: 'nim',
  version: '1.0.0',
  description: 'Take one to three stones. Who takes the last one wins.',
  seats: ['ann', 'bob'],
  params: z.object({ stones: z.int().min(1).max(100).default(7) }),
  state: {
    public: z.object({ stones: z.int(), turn_of: Player, lost: Player.nullable() }),
    own: z.object({ taken: z.int() }),
    private: z.object({}),
  },
  start: ({ params: { stones } }) => ({
    public: { stones, turn_of: 'ann', lost: null },
    own: { ann: { taken: 0 }, bob: { taken: 0 } },
    private: {},
  }),
  turn: ({ turn_of }) => turn_of,
  observe: ({ public: { stones }, own: { taken } }) => `${stones} stones are left, and you took ${taken}.`,
  tools: ({ tool }) => ({
    take: tool({
      description: 'Take stones.',
      input: z.object({ count: z.int().min(1).max(3) }),
      play({ seat, others: [other], state, input: { count }, say, send, refuse, end }) {
        if (count > state.public.stones) return refuse('There are not as many.')
        state.public.stones -= count
        state.own[seat].taken += count
        if (other) state.public.turn_of = other
        send('others', `${seat} took ${count}.`)
        if (state.public.stones === 0) {
          state.public.lost = other ?? null
          end('empty')
        }
        return say(`You took ${count}.`)
      },
    }),
  }),
  absent({ seat, state, end }) {
    state.public.lost = seat
    end('forfeit')
  },
  rewards: {
    won: ({ seat, after, end }) => (end?.kind === 'terminated' ? (after.public.lost === seat ? -1 : 1) : 0),
    stones: ({ seat, before, after }) => (after.own[seat].taken - before.own[seat].taken) / 100,
  },
  success: ({ seat, state }) => state.public.lost !== null && state.public.lost !== seat,
})

/** Leaves a multiple of four stones where it can, which wins. */
export const solver = definePolicy({
  name: 'leaves-fours',
  start:
    () =>
    ({ structured }) => ({ tool: 'take', arguments: { count: (structured as { stones: number }).stones % 4 || 1 } }),
})

export const policies = {
  /** Takes one stone at a time, and throws before the last. */
  broken: definePolicy({
    name: 'broken',
    start:
      () =>
      ({ structured }) => {
        if ((structured as { stones: number }).stones < 5) throw new Error('out of order')
        return { tool: 'take', arguments: { count: 1 } }
      },
  }),
}
