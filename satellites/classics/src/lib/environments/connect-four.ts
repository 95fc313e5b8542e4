import { definePolicy } from '@episodic/env'
import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import type { Reference } from '../reference.ts'
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

const LOOK_AHEAD = 6

/** Takes every win and avoids every loss that are certain within 6 moves. It is not a perfect player. */
export const solver = definePolicy({
  name: 'alpha-beta',
  start:
    () =>
    ({ structured }) => ({
      tool: 'drop',
      arguments: { column: bestColumn(structured?.columns as readonly string[], LOOK_AHEAD).column },
    }),
})

/**
 * Nothing of the game is measured exactly: it is solved, and the first player wins from the centre (Allen 1988, Allis
 * 1988), but the tree is too large to walk.
 */
export const references: readonly Reference[] = []

export const connectFour: Classic = { environment, tasks, solver, references }
export const measure = measureOf(connectFour)
