import type { GameReference } from '../game-reference.ts'
import { pokerReferences } from '../poker-references.ts'

/** The value of the game, −1/18, is Kuhn's: A Simplified Two-Person Poker (1950). */
export const references: readonly GameReference[] = [
  ...pokerReferences({
    informationSets: [6, 6],
    ends: 30,
    uniformValue: 1 / 8,
    nashConv: [
      ['uniform', 11 / 12],
      [{ solver: 'cfr', iterations: 1 }, 0.916666667],
      [{ solver: 'cfr', iterations: 10 }, 0.137397588],
      [{ solver: 'cfr', iterations: 100 }, 0.016451955],
      [{ solver: 'cfr', iterations: 1_000 }, 0.001875233],
      [{ solver: 'cfrPlus', iterations: 1 }, 0.916666667],
      [{ solver: 'cfrPlus', iterations: 10 }, 0.065374181],
      [{ solver: 'cfrPlus', iterations: 100 }, 0.002388808],
      [{ solver: 'cfrPlus', iterations: 1_000 }, 0.000174731],
    ],
  }),
  {
    id: 'cfr-plus-1000/value',
    params: {},
    quantity: 'expected return of the first seat, CFR+ after 1,000 iterations',
    value: -0.055555918,
    tolerance: 1e-9,
    source: 'CFR+ of OpenSpiel 2.0.2',
    how: { kind: 'game-value', profile: { solver: 'cfrPlus', iterations: 1_000 } },
  },
  {
    id: 'value',
    params: {},
    quantity: 'value of the game for the first seat',
    value: -1 / 18,
    tolerance: 1e-6,
    source: 'Kuhn 1950',
    how: { kind: 'game-value', profile: { solver: 'cfrPlus', iterations: 1_000 } },
  },
]
