import { drive, isSame, MOVES, type Square } from './grid.ts'

/** The fewest moves from one square to another, around the walls. */
export function distanceBetween(from: Square, to: Square): number {
  // Breadth first; the squares are few, and every one is reached.
  const queue = [{ square: from, moves: 0 }]
  for (const { square, moves } of queue) {
    if (isSame(square, to)) return moves
    for (const move of MOVES) {
      const next = drive(square, move)
      if (!queue.some((seen) => isSame(seen.square, next))) queue.push({ square: next, moves: moves + 1 })
    }
  }
  throw new RangeError(`There is no way to row ${to.row}, column ${to.column}.`)
}
