import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

/** Two seats take notes of any length. */
export const environment = defineGame({
  name: 'chatter',
  version: '1.0.0',
  description: 'Take notes in turn.',
  seats: ['player_0', 'player_1'],
  state: {
    public: z.object({ next: z.enum(['player_0', 'player_1']) }),
    own: z.object({ notes: z.string() }),
    private: z.object({}),
  },
  start: () => ({
    public: { next: 'player_0' },
    own: { player_0: { notes: '' }, player_1: { notes: '' } },
    private: {},
  }),
  turn: ({ next }) => next,
  observe: ({ own: { notes } }) => `Your notes: ${notes}`,
  tools: ({ tool }) => ({
    note: tool({
      description: 'Take a note.',
      input: z.object({ word: z.enum(['hear', 'say']) }),
      play({ seat, state, input, say }) {
        state.own[seat].notes += ` ${input.word}`
        state.public.next = seat === 'player_0' ? 'player_1' : 'player_0'
        return say('Noted.')
      },
    }),
  }),
  rewards: { noted: ({ seat, moved }) => (moved.includes(seat) ? 1 : 0) },
})
