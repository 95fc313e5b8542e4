import type { GameReference } from '../game-reference.ts'
import { pokerReferences } from '../poker-references.ts'

/** CFR+ magnifies rounding: after more iterations than these, implementations differ in the third digit. */
export const references: readonly GameReference[] = [
  ...pokerReferences({
    informationSets: [468, 468],
    ends: 5_520,
    uniformValue: -5 / 64,
    nashConv: [
      ['uniform', 4.747222222],
      [{ solver: 'cfr', iterations: 1 }, 4.747222222],
      [{ solver: 'cfr', iterations: 10 }, 1.777157966],
      [{ solver: 'cfr', iterations: 100 }, 0.191432706],
      [{ solver: 'cfrPlus', iterations: 1 }, 4.747222222],
      [{ solver: 'cfrPlus', iterations: 10 }, 1.220877803],
      [{ solver: 'cfrPlus', iterations: 100 }, 0.02683199],
    ],
  }),
  {
    id: 'value',
    params: {},
    quantity: 'value of the game for the first seat',
    value: -0.085606,
    // The NashConv of the profile, which bounds how far its value is from that of the game.
    tolerance: 0.0048,
    source: 'published',
    how: { kind: 'game-value', profile: { solver: 'cfrPlus', iterations: 300 } },
  },
]
