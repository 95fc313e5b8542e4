import type { GameReference } from '../game-reference.ts'

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
