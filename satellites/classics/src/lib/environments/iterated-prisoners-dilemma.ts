import { defineTasks } from '@episodic/dataset'
import { defineGame } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Strategy } from '../classic.ts'
import type { ClassicGame } from '../classic-game.ts'
import type { GameReference } from '../game-reference.ts'
import { measureOf } from '../measure-reference.ts'
import { strategyPolicy } from '../strategy-policy.ts'

const MOVES = { cooperate: 'C', defect: 'D' } as const

/** What a seat earns by its own move and the other's: temptation 5, reward 3, punishment 1, sucker 0. */
const POINTS: { readonly [moves: string]: number } = { DC: 5, CC: 3, DD: 1, CD: 0 }

const MOST_ROUNDS = 1_000

/**
 * The iterated prisoner's dilemma, with the points of Axelrod's tournaments. Both players know the number of rounds.
 */
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

/** Matches of 20 to 200 rounds. Nothing is drawn. */
export const tasks = defineTasks({
  name: 'iterated-prisoners-dilemma',
  environment,
  generate({ rng }) {
    const rounds = 20 * rng.int(1, 10)
    return {
      prompt: `Collect as many points as you can in ${rounds} rounds. Beating the other player is worth nothing by itself.`,
      hints: ['Two players that cooperate throughout earn three times as much as two that defect.'],
      params: { rounds },
      difficulty: 0.5,
      tags: [],
      seed: 'iterated-prisoners-dilemma',
    }
  },
})

type Move = 'C' | 'D'

/** What a strategy goes by: the moves of both sides so far. */
type Plan = (mine: string, theirs: string) => Move

const plans = {
  cooperate: () => 'C',
  defect: () => 'D',
  /** Cooperates first, then repeats the other's last move. */
  'tit-for-tat': (_, theirs) => (theirs.endsWith('D') ? 'D' : 'C'),
  /** Cooperates until the other has defected once. */
  grim: (_, theirs) => (theirs.includes('D') ? 'D' : 'C'),
  /** Cooperates and defects in turn. */
  alternate: (mine) => (mine.length % 2 === 0 ? 'C' : 'D'),
  /** Cooperates first; then repeats its own move while the other cooperates, and changes it when not. */
  'win-stay-lose-shift': (mine, theirs) => (theirs.endsWith('D') === mine.endsWith('D') ? 'C' : 'D'),
} satisfies { readonly [name: string]: Plan }

const strategies: { readonly [Name in keyof typeof plans]: Strategy } & { readonly [name: string]: Strategy } =
  Object.fromEntries(
    Object.entries(plans as { readonly [name: string]: Plan }).map(([name, plan]) => [name, strategyOf(plan)]),
  ) as { readonly [Name in keyof typeof plans]: Strategy }

function strategyOf(plan: Plan): Strategy {
  return ({ seat, row, column }: JsonObject) => {
    const [mine, theirs] = seat === 'row' ? [row, column] : [column, row]
    const move = plan(String(mine), String(theirs)) === 'C' ? 'cooperate' : 'defect'
    return { tool: 'choose', arguments: { move } }
  }
}

/** Always defects: what both do in every equilibrium, because both know which round is the last. */
export const solver = strategyPolicy('defect', strategies.defect)

const ROUNDS = 200

/** Points of the row's and of the column's strategy in 200 rounds; they follow from the rules. */
const MATCHES: { readonly [row: string]: { readonly [column: string]: readonly [number, number] } } = {
  cooperate: {
    cooperate: [600, 600],
    defect: [0, 1_000],
    'tit-for-tat': [600, 600],
    grim: [600, 600],
    alternate: [300, 800],
    'win-stay-lose-shift': [600, 600],
  },
  defect: {
    cooperate: [1_000, 0],
    defect: [200, 200],
    'tit-for-tat': [204, 199],
    grim: [204, 199],
    alternate: [600, 100],
    'win-stay-lose-shift': [600, 100],
  },
  'tit-for-tat': {
    cooperate: [600, 600],
    defect: [199, 204],
    'tit-for-tat': [600, 600],
    grim: [600, 600],
    alternate: [498, 503],
    'win-stay-lose-shift': [600, 600],
  },
  grim: {
    cooperate: [600, 600],
    defect: [199, 204],
    'tit-for-tat': [600, 600],
    grim: [600, 600],
    alternate: [597, 107],
    'win-stay-lose-shift': [600, 600],
  },
}

export const references: readonly GameReference[] = [
  ...Object.entries(MATCHES).flatMap(([row, columns]) =>
    Object.entries(columns).map(
      ([column, value]): GameReference => ({
        id: `${row}-${column}`,
        params: { rounds: ROUNDS },
        quantity: `points of ${row} and of ${column} in ${ROUNDS} rounds`,
        value,
        tolerance: 'exact',
        source: 'closed form',
        how: { kind: 'match', strategies: { row, column } },
      }),
    ),
  ),
  {
    id: 'uniform/value',
    params: { rounds: 3 },
    quantity: 'expected points of the first seat in 3 rounds, uniformly random moves: 2.25 a round',
    value: 6.75,
    tolerance: 1e-9,
    source: 'closed form',
    how: { kind: 'game-value', profile: 'uniform' },
  },
  {
    id: 'defect/nash-conv',
    params: { rounds: 3 },
    quantity: 'NashConv of defecting throughout, 3 rounds',
    value: 0,
    tolerance: 'exact',
    source: 'backward induction: the equilibrium of the finite game',
    how: { kind: 'nash-conv', profile: { strategy: 'defect' } },
  },
  {
    id: 'tit-for-tat/nash-conv',
    params: { rounds: 3 },
    quantity: 'NashConv of tit for tat, 3 rounds: each seat gains 2 by defecting in the last one',
    value: 4,
    tolerance: 'exact',
    source: 'closed form',
    how: { kind: 'nash-conv', profile: { strategy: 'tit-for-tat' } },
  },
]

export const iteratedPrisonersDilemma: ClassicGame = { environment, tasks, solver, references, strategies }
export const measure = measureOf(iteratedPrisonersDilemma)
