import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const MOVES = { cooperate: 'C', defect: 'D' } as const

/** What a seat earns by its own move and the other's: temptation 5, reward 3, punishment 1, sucker 0. */
const POINTS: { readonly [moves: string]: number } = { DC: 5, CC: 3, DD: 1, CD: 0 }

const MOST_ROUNDS = 1_000

/** The iterated prisoner's dilemma, with the points of Axelrod's tournaments. Both players know the number of rounds. */
export const environment = defineGame({
  name: 'iterated-prisoners-dilemma',
  version: '1.0.0',
  description:
    'Each round both cooperate or defect at once: 3 each for cooperating, 1 each for defecting; who defects alone gets 5, the other nothing.',
  seats: ['row', 'column'],
  params: z.object({ rounds: z.int().min(1).max(MOST_ROUNDS).default(200) }),
  state: {
    /** The moves of each seat so far, as C and D. */
    public: z.object({ row: z.string().max(MOST_ROUNDS), column: z.string().max(MOST_ROUNDS) }),
    own: z.object({ move: z.enum(['C', 'D']).nullable() }),
    private: z.object({}),
  },
  /** Twice what the rounds take, so that there is room for refused moves. */
  limits: ({ rounds }) => ({ steps: 2 * rounds }),
  start: () => ({ public: { row: '', column: '' }, own: { row: { move: null }, column: { move: null } }, private: {} }),
  turn: () => ['row', 'column'],
  observe({ seat, public: table }, { rounds }) {
    const other = seat === 'row' ? 'column' : 'row'
    return `Round ${table.row.length + 1} of ${rounds}. Your moves so far: ${table[seat] || 'none'}. The other's: ${table[other] || 'none'}.`
  },
  legal: () => ({ choose: Object.keys(MOVES).map((move) => ({ move })) }),
  tools: ({ sealed }) => ({
    choose: sealed({
      description: 'Cooperate or defect. Nobody sees it before both have chosen.',
      input: z.object({ move: z.enum(['cooperate', 'defect']).describe('What you do this round.') }),
      play({ own, input }) {
        own.move = MOVES[input.move]
      },
    }),
  }),
  settle({ state, params, reveal, end }) {
    const { row, column } = state.own
    if (row.move && column.move) {
      state.public.row += reveal(row.move)
      state.public.column += reveal(column.move)
    }
    for (const own of [row, column]) own.move = null
    if (state.public.row.length === params.rounds) end('played')
  },
  rewards: {
    points({ seat, before, after }) {
      if (after.public.row.length === before.public.row.length) return 0
      const [row, column] = [after.public.row.at(-1), after.public.column.at(-1)]
      return POINTS[seat === 'row' ? `${row}${column}` : `${column}${row}`] ?? 0
    },
  },
})
