import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

// A world written from the README and docs/write/environments.md alone.

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

const mark = z.enum(['X', 'O', ' '])
type Mark = z.infer<typeof mark>

function winner(board: readonly Mark[]): Mark | null {
  for (const [a, b, c] of LINES)
    if (board[a] !== ' ' && board[a] === board[b] && board[a] === board[c]) return board[a] as Mark
  return null
}

function free(board: readonly Mark[]): number[] {
  return board.flatMap((square, i) => (square === ' ' ? [i] : []))
}

/** The square that completes a line of a player, if there is one. */
function completing(board: readonly Mark[], player: Mark): number | undefined {
  return free(board).find((square) => winner(board.with(square, player)) === player)
}

export const environment = defineEnvironment({
  name: 'tic-tac-toe',
  version: '1.0.0',
  description: 'Play tic-tac-toe as X against a scripted opponent. Three in a row win.',
  params: z.object({ opponent: z.enum(['random', 'careful']).default('careful') }),
  state: {
    public: z.object({ board: z.array(mark).length(9), moves: z.int(), winner: mark.nullable() }),
    private: z.object({}),
  },
  limits: { steps: 12 },
  start: () => ({ public: { board: Array<Mark>(9).fill(' '), moves: 0, winner: null }, private: {} }),
  observe: ({ board }) => [0, 3, 6].map((row) => board.slice(row, row + 3).join('|')).join('\n-+-+-\n'),
  tools: ({ tool }) => ({
    place: tool({
      description: 'Put an X on a free square.',
      input: z.object({ square: z.int().min(0).max(8).describe('0 is top left, 8 is bottom right.') }),
      play({ state, params, input, rng, refuse, end, say }) {
        const { board } = state.public
        if (board[input.square] !== ' ') return refuse(`Square ${input.square} is taken.`)
        board[input.square] = 'X'
        state.public.moves += 1
        if (winner(board)) {
          state.public.winner = 'X'
          end('won')
          return say('You win.')
        }
        if (free(board).length === 0) {
          end('draw')
          return say('A draw.')
        }
        const careful = params.opponent === 'careful' ? (completing(board, 'O') ?? completing(board, 'X')) : undefined
        const reply = careful ?? rng.pick(free(board))
        board[reply] = 'O'
        if (winner(board)) {
          state.public.winner = 'O'
          end('lost')
          return say(`The opponent takes square ${reply} and wins.`)
        }
        return say(`The opponent takes square ${reply}.`)
      },
    }),
  }),
  rewards: {
    result: ({ end }) => ({ won: 1, draw: 0.3, lost: -1 })[end?.reason ?? ''] ?? 0,
    refused: ({ refused }) => (refused ? -0.1 : 0),
  },
  success: ({ state }) => state.public.winner === 'X',
})

export const tasks = defineTasks({
  name: 'tic-tac-toe',
  environment,
  generate: ({ difficulty }) => ({
    prompt: 'Win the game.',
    params: { opponent: difficulty < 0.5 ? 'random' : 'careful' },
    difficulty,
  }),
})

export const solver = definePolicy({
  name: 'attentive',
  start: () => (observation) => {
    const board = observation.structured?.board as Mark[]
    const square =
      completing(board, 'X') ??
      completing(board, 'O') ??
      [4, 0, 2, 6, 8, 1, 3, 5, 7].find((candidate) => board[candidate] === ' ')
    return { tool: 'place', arguments: { square: square as number } }
  },
})
