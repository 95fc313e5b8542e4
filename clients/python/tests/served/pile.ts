import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

/** Two seats take from one pile at any time, with views of every kind of bounded part. */
export const environment = defineGame({
  name: 'pile',
  version: '1.0.0',
  description: 'Take 1 to 3 from the pile. Who takes the last one wins.',
  seats: ['player_0', 'player_1'],
  state: {
    public: z.object({
      left: z.int().min(0).max(5),
      share: z.number().min(0).max(1),
      last: z.tuple([z.enum(['player_0', 'player_1']), z.int().min(0).max(3)]).nullable(),
      odd: z.boolean(),
      taken: z.array(z.int().min(1).max(3)).max(2),
      marks: z.array(z.enum(['few', 'none'])).meta({ uniqueItems: true }),
      word: z.string().max(3),
      unit: z.literal('sticks'),
    }),
    own: z.object({ lucky: z.int().min(2).max(9).optional() }),
    private: z.object({}),
  },
  start: () => ({
    public: { left: 5, share: 1, last: null, odd: true, taken: [], marks: [], word: 'so', unit: 'sticks' },
    own: { player_0: { lucky: 7 }, player_1: {} },
    private: {},
  }),
  turn: () => ['player_0', 'player_1'],
  observe: ({ public: { left } }) => `${left} left.`,
  legal: ({ public: { left } }) => ({ take: z.object({ count: z.int().min(1).max(Math.min(3, left)) }) }),
  tools: ({ tool }) => ({
    take: tool({
      description: 'Take some.',
      input: z.object({ count: z.int().min(1).max(3) }),
      play({ seat, state, input, say, refuse, end }) {
        const shown = state.public
        if (input.count > shown.left) return refuse(`There are ${shown.left}.`)
        shown.left -= input.count
        Object.assign(shown, { share: shown.left / 5, last: [seat, input.count], odd: shown.left % 2 === 1 })
        shown.taken = [...shown.taken, input.count].slice(-2)
        shown.marks = shown.left === 0 ? ['none', 'few'] : shown.left < 3 ? ['few'] : []
        if (shown.left === 0) end('taken')
        return say('Taken.')
      },
    }),
    talk: tool({
      description: 'Say something.',
      input: z.object({}),
      output: z.object({ answered: z.boolean() }),
      play({ state, say }) {
        state.public.word = 'hm'
        return say('Nobody listens.', { answered: false })
      },
    }),
  }),
  rewards: {
    won: ({ seat, moved, end }) => (end?.reason !== 'taken' ? 0 : moved.includes(seat) ? 1 : -1),
    refused: ({ seat, moved, refused }) => (refused !== null && moved.includes(seat) ? -0.25 : 0),
  },
})
