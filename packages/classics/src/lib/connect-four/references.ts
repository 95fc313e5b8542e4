import type { GameReference } from '../game-reference.ts'

/** To this number of moves, counting takes about a second. */
const PLIES = 6

/** The game is solved: the first player wins from the centre (Allen 1988, Allis 1988). That is not measured here. */
export const references: readonly GameReference[] = [
  {
    id: 'positions',
    params: {},
    quantity: `positions after 0 to ${PLIES} moves`,
    value: [1, 7, 49, 238, 1_120, 4_263, 16_422],
    tolerance: 'exact',
    source: 'counted by another implementation',
    how: { kind: 'positions', plies: PLIES },
  },
  {
    id: 'courses',
    params: {},
    quantity: `orders of moves after 0 to ${PLIES} moves`,
    value: [1, 7, 49, 343, 2_401, 16_807, 117_649],
    tolerance: 'exact',
    source: 'OpenSpiel 2.0.2',
    how: { kind: 'courses', plies: PLIES },
  },
]
