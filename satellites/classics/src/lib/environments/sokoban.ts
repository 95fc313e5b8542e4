import { defineTasks } from '@episodic/dataset'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { optimalPolicy } from '../optimal-policy.ts'
import { played } from '../played.ts'
import type { Reference } from '../reference.ts'
import { boxesOnGoals, DIRECTIONS, isSolved, move } from './sokoban/board.ts'

/** The levels, easiest first: `#` wall, `.` goal, `$` box, `*` box on a goal, `@` player, `+` player on a goal. */
const LEVELS = {
  shelf: ['#######', '#  .  #', '#     #', '# $ @ #', '#     #', '#######'],
  corner: ['######', '#    #', '# #@ #', '# $* #', '#  . #', '######'],
  pair: ['#######', '# .   #', '#  $  #', '# $@  #', '#   . #', '#######'],
  bend: ['#######', '#  #  #', '#..$  #', '## #$ #', '#  @  #', '#######'],
  gate: ['#########', '#   #   #', '# $   . #', '# $ # . #', '# @ #   #', '#########'],
  aisle: ['########', '#  ##  #', '# $  $ #', '#. ## .#', '#  @   #', '########'],
} as const

const LEVEL_NAMES = ['shelf', 'corner', 'pair', 'bend', 'gate', 'aisle'] as const

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

/** One task for each level: nothing is drawn. */
export const tasks = defineTasks({
  name: 'sokoban',
  environment,
  generate({ difficulty }) {
    const at = Math.min(LEVEL_NAMES.length - 1, Math.floor(difficulty * LEVEL_NAMES.length))
    const level = LEVEL_NAMES[at] as LevelName
    return {
      prompt: 'Push every box ($) onto a goal (.) in as few moves as you can, within 120.',
      hints: ['A box in a corner that is no goal can never be moved again.'],
      params: { level },
      difficulty: (at + 0.5) / LEVEL_NAMES.length,
      tags: [level],
      seed: level,
    }
  },
})

/** Solves every level in the fewest moves. */
export const solver = optimalPolicy({ environment })

/** The fewest moves, and the boxes that they bring to goals. */
const SOLUTIONS: { readonly [level in LevelName]: { readonly moves: number; readonly boxes: number } } = {
  shelf: { moves: 8, boxes: 1 },
  corner: { moves: 8, boxes: 1 },
  pair: { moves: 9, boxes: 2 },
  bend: { moves: 16, boxes: 2 },
  gate: { moves: 23, boxes: 2 },
  aisle: { moves: 32, boxes: 2 },
}

/** This package's own: the levels are, too. */
export const references: readonly Reference[] = Object.entries(SOLUTIONS).flatMap(([level, { moves, boxes }]) => {
  const optimum = {
    params: { level },
    value: 10 + boxes - 0.1 * moves,
    tolerance: 1e-9,
    source: 'our own optimum, by breadth-first search',
  }
  return [
    {
      ...optimum,
      id: `${level}/optimal`,
      quantity: `return of the fewest moves, ${moves}`,
      how: { kind: 'expected-return', policy: 'optimal', steps: 120 },
    },
    played('solver', { ...optimum, variant: level }),
  ] satisfies Reference[]
})

export const sokoban: Classic = { environment, tasks, solver, references }
export const measure = measureOf(sokoban)

type LevelName = (typeof LEVEL_NAMES)[number]
