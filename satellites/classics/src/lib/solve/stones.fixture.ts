import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

/** Two players take one to three stones in turn. Who takes the last one wins: a multiple of four is lost. */
export const stonesGame = defineGame({
  name: 'stones',
  version: '1.0.0',
  description: 'Take one to three stones. The last one wins.',
  seats: ['a', 'b'],
  params: z.object({ stones: z.int().min(1).default(4) }),
  state: {
    public: z.object({ stones: z.int(), next: z.enum(['a', 'b']) }),
    own: z.object({}),
    private: z.object({}),
  },
  start: ({ params: { stones } }) => ({ public: { stones, next: 'a' }, own: { a: {}, b: {} }, private: {} }),
  turn: ({ next }) => next,
  observe: ({ public: { stones } }) => `${stones} stones are left.`,
  legal: ({ public: { stones } }) => ({
    take: [1, 2, 3].filter((count) => count <= stones).map((count) => ({ count })),
  }),
  tools: ({ tool }) => ({
    take: tool({
      description: 'Take stones.',
      input: z.object({ count: z.int().min(1).max(3) }),
      play({ state, seat, input, refuse, end, say }) {
        if (input.count > state.public.stones) return refuse('There are not so many.')
        state.public.stones -= input.count
        state.public.next = seat === 'a' ? 'b' : 'a'
        if (state.public.stones === 0) end('empty')
        return say('Taken.')
      },
    }),
  }),
  rewards: {
    // Who has taken the last stone would not be next.
    won: ({ seat, after, end }) => (end === null ? 0 : after.public.next === seat ? -1 : 1),
  },
})
