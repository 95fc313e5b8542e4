import { tabledReferences } from '../tabled-references.ts'

/**
 * Gymnasium's Taxi-v4. Its registered threshold, 8, is above the optimum of both variants: no policy reaches it in
 * expectation.
 */
export const references = tabledReferences([
  {
    variant: 'dry',
    params: { rainy: false },
    rows: 3_000,
    sha256: 'ab1bba4f2816d908bf92eb3db165875019b921ca7a90668e1cf989009678b930',
    steps: 200,
    optimal: 7.93,
    optimalWithoutLimit: 7.93,
    optimalDiscounted: 6.327464314919,
    uniform: -771.09099945,
  },
  {
    variant: 'rainy',
    params: { rainy: true },
    rows: 7_000,
    sha256: 'c80a35e0b6b829bf37a54186b11e8a33c4b66f38cb65f011c49948430f04dc46',
    steps: 200,
    optimal: 3.954574516551,
    optimalWithoutLimit: 3.954574516551,
    optimalDiscounted: 2.247629323605,
    uniform: -772.516508614,
  },
])
