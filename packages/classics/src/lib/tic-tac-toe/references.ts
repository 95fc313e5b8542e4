import type { GameReference, NamedProfile } from '../game-reference.ts'

const COUNTED = 'counted by another implementation'
const solved: NamedProfile = 'backward-induction'

/** Six digits after the point. */
const ROUNDING = 5e-7

export const references: readonly GameReference[] = [
  {
    id: 'positions',
    params: {},
    quantity: 'positions after 0 to 9 moves, 5,478 in all',
    value: [1, 9, 72, 252, 756, 1_260, 1_520, 1_140, 390, 78],
    tolerance: 'exact',
    source: COUNTED,
    how: { kind: 'positions', plies: 9 },
  },
  {
    id: 'positions/symmetric',
    params: {},
    quantity: 'positions that no turn or reflection makes equal, after 0 to 9 moves, 765 in all',
    value: [1, 3, 12, 38, 108, 174, 204, 153, 57, 15],
    tolerance: 'exact',
    source: COUNTED,
    how: { kind: 'symmetric-positions', plies: 9 },
  },
  {
    id: 'games',
    params: {},
    quantity: 'orders of moves that X wins, that O wins and that are a draw, 255,168 in all',
    value: [131_184, 77_904, 46_080],
    tolerance: 'exact',
    source: COUNTED,
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
    id: 'uniform/endings',
    params: {},
    quantity: 'chances that X wins, that O wins and of a draw, uniformly random moves',
    value: [0.584920635, 0.288095238, 0.126984127],
    tolerance: 1e-9,
    source: COUNTED,
    how: { kind: 'ending-chances', profile: 'uniform' },
  },
  {
    id: 'x-solved/endings',
    params: {},
    quantity: 'the same, X moves by backward induction and O at random',
    value: [0.967811, 0, 0.032189],
    tolerance: ROUNDING,
    source: COUNTED,
    how: { kind: 'ending-chances', profile: { seats: { x: solved, o: 'uniform' } } },
  },
  {
    id: 'o-solved/endings',
    params: {},
    quantity: 'the same, O moves by backward induction and X at random',
    value: [0, 0.777484, 0.222516],
    tolerance: ROUNDING,
    source: COUNTED,
    how: { kind: 'ending-chances', profile: { seats: { x: 'uniform', o: solved } } },
  },
]
