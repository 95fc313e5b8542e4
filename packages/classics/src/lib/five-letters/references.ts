import type { Reference } from '../reference.ts'

/** 287 guesses find each of the 113 words once. */
const OPTIMUM = 1 - (0.1 * 287) / 113

/** What one of 113 words earns that is guessed at random, six times at most. */
const RANDOM = randomReturn(1 / 113)

/** This package's own: the game has its own list of words. */
export const references: readonly Reference[] = [
  {
    id: 'optimal',
    params: {},
    quantity: 'return of the fewest guesses on average, 287/113',
    value: OPTIMUM,
    tolerance: 1e-9,
    source: 'our own optimum, by exhaustive search',
    how: { kind: 'expected-return', policy: { strategy: 'fewest-guesses' }, steps: null },
  },
  {
    id: 'solver-played',
    params: {},
    quantity: 'mean return of the solver',
    value: OPTIMUM,
    tolerance: 'interval',
    source: 'our own optimum, by exhaustive search',
    how: { kind: 'played', policy: 'solver' },
  },
  {
    id: 'random-played',
    params: {},
    quantity: 'mean return of random guesses',
    value: RANDOM,
    tolerance: 'interval',
    source: 'exact, from the number of words',
    how: { kind: 'played', policy: 'random' },
  },
]

function randomReturn(chance: number): number {
  const guesses = [0, 1, 2, 3, 4, 5].map((before) => (1 - chance) ** before)
  return guesses.reduce((sum, reached) => sum + reached * (chance - 0.1), 0)
}
