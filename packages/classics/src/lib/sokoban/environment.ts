import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'
import { boxesOnGoals, DIRECTIONS, isSolved, move } from './board.ts'
import { LEVEL_NAMES, LEVELS } from './levels.ts'

/** Push boxes onto goals, in levels of this package's own. */
export const environment = defineEnvironment({
  name: 'sokoban',
  version: '1.0.0',
  description: 'Push every box onto a goal. Boxes can be pushed, one at a time, and not pulled.',
  handle: 'level',
  params: z.object({ level: z.enum(LEVEL_NAMES).default('shelf') }),
  state: {
    public: z.object({
      board: z
        .array(z.string().max(9).describe('One row, a character for each square.'))
        .max(6)
        .describe('# wall, . goal, $ box, * box on a goal, @ you, + you on a goal.'),
    }),
    private: z.object({}),
  },
  limits: { steps: 120 },
  start: ({ params }) => ({ public: { board: [...LEVELS[params.level]] }, private: {} }),
  observe: ({ board }) =>
    `Push every box onto a goal (# wall, . goal, $ box, * box on a goal, @ you, + you on a goal).\n${board.join('\n')}`,
  legal: ({ board }) => ({
    move: DIRECTIONS.filter((direction) => move(board, direction)).map((direction) => ({ direction })),
  }),
  tools: ({ tool }) => ({
    move: tool({
      description: 'Move one square. If a box is there you push it, unless a wall or another box is behind it.',
      input: z.object({ direction: z.enum(DIRECTIONS).describe('Where you move, as seen on the board.') }),
      play({ state, input: { direction }, refuse, end, say }) {
        const moved = move(state.public.board, direction)
        if (!moved) return refuse(`You cannot move ${direction}: something is in the way.`)
        state.public.board = moved
        if (!isSolved(moved)) return say(`You moved ${direction}.`)
        end('solved')
        return say('Every box is on a goal.')
      },
    }),
  }),
  rewards: {
    solved: ({ end }) => (end?.reason === 'solved' ? 10 : 0),
    boxes: ({ before, after }) => boxesOnGoals(after.public.board) - boxesOnGoals(before.public.board),
    cost: () => -0.1,
  },
  success: ({ end }) => end.reason === 'solved',
})
