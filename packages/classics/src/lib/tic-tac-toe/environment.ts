import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'
import { hasThree } from './board.ts'

const MARKS = { x: 'X', o: 'O' } as const

/** Tic-tac-toe, or noughts and crosses. */
export const environment = defineGame({
  name: 'tic-tac-toe',
  version: '1.0.0',
  description: 'Mark a free cell of a board of three by three in turn. Three in a row, column or diagonal win.',
  seats: ['x', 'o'],
  utility: 'zero-sum',
  state: {
    /** Nine cells by row: `X`, `O`, or `.` for a free one. */
    public: z.object({ board: z.string().length(9) }),
    own: z.object({}),
    private: z.object({}),
  },
  /** Twice what a game takes, so that there is room for refused moves. */
  limits: { steps: 10 },
  start: () => ({ public: { board: '.........' }, own: { x: {}, o: {} }, private: {} }),
  turn: ({ board }) => (freeCells(board).length % 2 === 1 ? 'x' : 'o'),
  observe: ({ seat, public: { board } }) =>
    `You play ${MARKS[seat]}. The board, with cells 0 to 8 by row:\n${[0, 3, 6].map((at) => board.slice(at, at + 3)).join('\n')}`,
  legal: ({ public: { board } }) => ({ mark: freeCells(board).map((cell) => ({ cell })) }),
  tools: ({ tool }) => ({
    mark: tool({
      description: 'Mark a free cell. Cells are numbered by row, from 0 at the top left to 8 at the bottom right.',
      input: z.object({ cell: z.int().min(0).max(8).describe('Counted row by row, from the top left.') }),
      play({ state, seat, input: { cell }, end, say, refuse }) {
        const { board } = state.public
        if (board[cell] !== '.') return refuse(`Cell ${cell} is taken. Free are ${freeCells(board).join(', ')}.`)
        state.public.board = board.slice(0, cell) + MARKS[seat] + board.slice(cell + 1)
        if (hasThree(state.public.board)) {
          end('won')
          return say('You have three in a row.')
        }
        if (freeCells(state.public.board).length === 0) end('draw')
        return say(`You mark cell ${cell}.`)
      },
    }),
  }),
  rewards: {
    won: ({ seat, moved, end }) => (end?.reason !== 'won' ? 0 : moved.includes(seat) ? 1 : -1),
  },
})

function freeCells(board: string): number[] {
  return [...board].flatMap((cell, at) => (cell === '.' ? [at] : []))
}
