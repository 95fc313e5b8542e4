import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'
import type { ClassicGame } from '../classic-game.ts'
import type { GameReference, NamedProfile } from '../game-reference.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import { solvedPolicy } from '../solved-policy.ts'

/** The cells of three in a row: rows, columns and diagonals, numbered by row from 0. */
const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
] as const

/** Where each cell comes from in a quarter turn, and in a reflection. */
const TURNED = [6, 3, 0, 7, 4, 1, 8, 5, 2]
const REFLECTED = [2, 1, 0, 5, 4, 3, 8, 7, 6]
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

/** One task: the game draws nothing. */
export const tasks = plainTasks(environment, {
  prompt: 'Win, or at least do not lose: perfect play of both is a draw.',
  hints: ['Two threats at once cannot both be blocked.'],
  seed: 'tic-tac-toe',
})

/** Plays every best move equally often, by backward induction over all positions. It never loses. */
export const solver = solvedPolicy(environment, 'backward-induction', (tree) => tree.backwardInduction())

const counted = { params: {}, tolerance: 'exact', source: 'counted by another implementation' } as const
const solved: NamedProfile = 'backward-induction'

/** Six digits after the point. */
const ROUNDING = 5e-7

export const references: readonly GameReference[] = [
  {
    ...counted,
    id: 'positions',
    quantity: 'positions after 0 to 9 moves, 5,478 in all',
    value: [1, 9, 72, 252, 756, 1_260, 1_520, 1_140, 390, 78],
    how: { kind: 'positions', plies: 9 },
  },
  {
    ...counted,
    id: 'positions/symmetric',
    quantity: 'positions that no turn or reflection makes equal, after 0 to 9 moves, 765 in all',
    value: [1, 3, 12, 38, 108, 174, 204, 153, 57, 15],
    how: { kind: 'symmetric-positions', plies: 9 },
  },
  {
    ...counted,
    id: 'games',
    quantity: 'orders of moves that X wins, that O wins and that are a draw, 255,168 in all',
    value: [131_184, 77_904, 46_080],
    how: { kind: 'ending-courses' },
  },
  {
    id: 'value',
    params: {},
    quantity: 'value of the game for X',
    value: 0,
    tolerance: 'exact',
    source: 'a draw, as is well known',
    how: { kind: 'game-value', profile: solved },
  },
  {
    id: 'solved/nash-conv',
    params: {},
    quantity: 'NashConv of backward induction',
    value: 0,
    tolerance: 'exact',
    source: 'its definition',
    how: { kind: 'nash-conv', profile: solved },
  },
  {
    ...counted,
    id: 'uniform/endings',
    quantity: 'chances that X wins, that O wins and of a draw, uniformly random moves',
    value: [0.584920635, 0.288095238, 0.126984127],
    tolerance: 1e-9,
    how: { kind: 'ending-chances', profile: 'uniform' },
  },
  {
    ...counted,
    id: 'x-solved/endings',
    quantity: 'the same, X moves by backward induction and O at random',
    value: [0.967811, 0, 0.032189],
    tolerance: ROUNDING,
    how: { kind: 'ending-chances', profile: { seats: { x: solved, o: 'uniform' } } },
  },
  {
    ...counted,
    id: 'o-solved/endings',
    quantity: 'the same, O moves by backward induction and X at random',
    value: [0, 0.777484, 0.222516],
    tolerance: ROUNDING,
    how: { kind: 'ending-chances', profile: { seats: { x: 'uniform', o: solved } } },
  },
]

export const ticTacToe: ClassicGame = {
  environment,
  tasks,
  solver,
  references,
  symmetric: ({ board }) => symmetricBoard(String(board)),
}
export const measure = measureOf(ticTacToe)

/**
 * Returns whether somebody has three in a row. A board has nine characters by row: `X`, `O`, or `.` for a free cell.
 */
function hasThree(board: string): boolean {
  return LINES.some(([a, b, c]) => board[a] !== '.' && board[a] === board[b] && board[a] === board[c])
}

/** Returns the first, in the order of text, of the eight boards that a board becomes by turning and reflecting it. */
function symmetricBoard(board: string): string {
  const boards: string[] = []
  for (let turns = 0, turned = board; turns < 4; turns++, turned = moved(turned, TURNED))
    boards.push(turned, moved(turned, REFLECTED))
  return boards.sort()[0] as string
}

function moved(board: string, from: readonly number[]): string {
  return from.map((cell) => board[cell]).join('')
}
