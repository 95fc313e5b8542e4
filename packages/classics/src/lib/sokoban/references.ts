import type { Reference } from '../reference.ts'
import type { LevelName } from './levels.ts'

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
    {
      ...optimum,
      id: `${level}/solver-played`,
      quantity: 'mean return of the solver',
      how: { kind: 'played', policy: 'solver' },
    },
  ] satisfies Reference[]
})
