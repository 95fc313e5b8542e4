import type { GameReference } from '../game-reference.ts'

const OPEN_SPIEL = 'OpenSpiel 2.0.2'
const exact = { params: {}, tolerance: 'exact', source: OPEN_SPIEL } as const
const computed = { params: {}, tolerance: 1e-9, source: OPEN_SPIEL } as const

export const references: readonly GameReference[] = [
  {
    ...exact,
    id: 'information-sets',
    quantity: 'information sets of each seat, one round',
    value: [1, 1],
    how: { kind: 'information-sets' },
  },
  { ...exact, id: 'ends', quantity: 'ways in which one round ends', value: 9, how: { kind: 'ends' } },
  {
    ...computed,
    id: 'value',
    quantity: 'value of the game for the first seat',
    value: 0,
    how: { kind: 'game-value', profile: { solver: 'cfrPlus', iterations: 100 } },
  },
  {
    ...computed,
    id: 'uniform/nash-conv',
    quantity: 'NashConv of uniformly random hands',
    value: 0,
    how: { kind: 'nash-conv', profile: 'uniform' },
  },
  {
    ...computed,
    id: 'rock/nash-conv',
    quantity: 'NashConv of rock against rock',
    value: 2,
    how: { kind: 'nash-conv', profile: { strategy: 'rock' } },
  },
]
