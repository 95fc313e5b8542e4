import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'
import type { ClassicGame } from '../classic-game.ts'
import type { GameReference } from '../game-reference.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import { strategyPolicy } from '../strategy-policy.ts'
import { bestColumn } from './connect-four/best-column.ts'
import { COLUMNS, hasFour, openColumns, ROWS } from './connect-four/board.ts'

const DISCS = { first: 'X', second: 'O' } as const

/** Connect four: six rows, seven columns, four in line. */
export const environment = defineGame({
  name: 'connect-four',
  version: '1.0.0',
  description:
    'Drop a disc into one of seven columns in turn; it falls onto those below, six at most. Four in a row, column or diagonal win.',
  seats: ['first', 'second'],
  utility: 'zero-sum',
  state: {
    /** The discs of each column from the bottom, as `X` of the first player and `O` of the second. */
    public: z.object({ columns: z.array(z.string().max(ROWS)).length(COLUMNS) }),
    own: z.object({}),
    private: z.object({}),
  },
  /** Twice what a game takes, so that there is room for refused moves. */
  limits: { steps: ROWS * COLUMNS },
  start: () => ({
    public: { columns: Array.from({ length: COLUMNS }, () => '') },
    own: { first: {}, second: {} },
    private: {},
  }),
  turn: ({ columns }) => (columns.join('').length % 2 === 0 ? 'first' : 'second'),
  observe: ({ seat, public: { columns } }) =>
    `You play ${DISCS[seat]}. The board, with columns 0 to 6 from the left:\n${drawn(columns)}`,
  legal: ({ public: { columns } }) => ({ drop: openColumns(columns).map((column) => ({ column })) }),
  tools: ({ tool }) => ({
    drop: tool({
      description: 'Drop a disc into a column. Columns are numbered from 0 at the left.',
      input: z.object({
        column: z
          .int()
          .min(0)
          .max(COLUMNS - 1),
      }),
      play({ state, seat, input: { column }, end, say, refuse }) {
        const { columns } = state.public
        const open = openColumns(columns)
        if (!open.includes(column)) return refuse(`Column ${column} is full. Open are ${open.join(', ')}.`)
        columns[column] += DISCS[seat]
        if (hasFour(columns, column)) {
          end('won')
          return say('You have four in line.')
        }
        if (openColumns(columns).length === 0) end('draw')
        return say(`You drop a disc into column ${column}.`)
      },
    }),
  }),
  rewards: {
    won: ({ seat, moved, end }) => (end?.reason !== 'won' ? 0 : moved.includes(seat) ? 1 : -1),
  },
})

function drawn(columns: readonly string[]): string {
  const rows = Array.from({ length: ROWS }, (_, row) => columns.map((column) => column[row] ?? '.').join(''))
  return rows.reverse().join('\n')
}

/** One task: the game draws nothing. */
export const tasks = plainTasks(environment, {
  prompt: 'Get four of your discs in line before the other player does.',
  hints: ['The centre column is in the most lines.', 'Look whether the other player could win on top of your disc.'],
  seed: 'connect-four',
})

/** Moves of both sides that the solver looks ahead. */
const LOOK_AHEAD = 9

/**
 * Plays the best column by a search of 9 moves. It takes every win and avoids every loss that are certain within them.
 * It is not a perfect player.
 */
export const solver = strategyPolicy('alpha-beta', ({ columns }) => ({
  tool: 'drop',
  arguments: { column: bestColumn(columns as readonly string[], LOOK_AHEAD).column },
}))

/** To this number of moves, counting takes about a second. */
const COUNTED_PLIES = 6

/** The game is solved: the first player wins from the centre (Allen 1988, Allis 1988). That is not measured here. */
export const references: readonly GameReference[] = [
  {
    id: 'positions',
    params: {},
    quantity: `positions after 0 to ${COUNTED_PLIES} moves`,
    value: [1, 7, 49, 238, 1_120, 4_263, 16_422],
    tolerance: 'exact',
    source: 'counted by another implementation',
    how: { kind: 'positions', plies: COUNTED_PLIES },
  },
  {
    id: 'courses',
    params: {},
    quantity: `orders of moves after 0 to ${COUNTED_PLIES} moves`,
    value: [1, 7, 49, 343, 2_401, 16_807, 117_649],
    tolerance: 'exact',
    source: 'OpenSpiel 2.0.2',
    how: { kind: 'courses', plies: COUNTED_PLIES },
  },
]

export const connectFour: ClassicGame = { environment, tasks, solver, references }
export const measure = measureOf(connectFour)
