import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

const free = (cells: readonly string[]) => [...cells.keys()].filter((cell) => cells[cell] === '')

/** A board of four cells to fill, which says what is legal: in each of the three ways there are. */
export const board = defineEnvironment({
  name: 'board',
  version: '1.0.0',
  description: 'Fill the board.',
  params: z.object({ wrong: z.boolean().default(false) }),
  state: { public: z.object({ cells: z.array(z.string()).max(4) }), private: z.object({ hidden: z.int() }) },
  start: ({ rng }) => ({ public: { cells: ['', '', '', ''] }, private: { hidden: rng.int(1, 9) } }),
  observe: ({ cells }) => cells.map((cell) => cell || '.').join(''),
  tools: ({ tool }) => ({
    place: tool({
      description: 'Places your mark.',
      input: z.object({ cell: z.int() }),
      play({ state, input, refuse, say, end }) {
        if (state.public.cells[input.cell] !== '') return refuse('That cell is not free.')
        state.public.cells[input.cell] = 'X'
        if (free(state.public.cells).length === 0) end('full')
        return say('Placed.')
      },
    }),
    resign: tool({
      description: 'Gives up, from the second move on.',
      input: z.object({ why: z.enum(['bored', 'lost']) }),
      play({ state, refuse, say, end }) {
        if (free(state.public.cells).length === 4) return refuse('Not yet.')
        end('resigned')
        return say('Resigned.')
      },
    }),
    bet: tool({
      description: 'Bets no more than there are free cells.',
      input: z.object({ stake: z.int().min(1).max(1_000) }),
      play: ({ state, input, refuse, say }) =>
        input.stake > free(state.public.cells).length ? refuse('Too much.') : say('You bet.'),
    }),
  }),
  legal({ cells }, { wrong }) {
    const left = free(cells)
    return {
      place: left.map((cell) => ({ cell })),
      bet: z.object({ stake: z.int().min(1).max(left.length) }),
      ...(left.length < 4 && { resign: true }),
      ...(wrong && { cheat: true }),
    }
  },
  rewards: { full: ({ end }) => (end?.reason === 'full' ? 1 : 0) },
})
