import { drive, MOVES, SIZE, type Square, type Stop, squareOf } from './grid.ts'

/** By stop, then by row and column. Every step asks for them. */
const DISTANCES: Readonly<Record<Stop, readonly number[]>> = {
  R: distancesFrom('R'),
  G: distancesFrom('G'),
  Y: distancesFrom('Y'),
  B: distancesFrom('B'),
}

/** The fewest moves from a square to a stop, around the walls. */
export function distanceTo(stop: Stop, from: Square): number {
  return DISTANCES[stop][numberOf(from)] as number
}

function distancesFrom(stop: Stop): number[] {
  const start = squareOf(stop)
  const distances: number[] = []
  distances[numberOf(start)] = 0
  // Breadth first; the squares are few, every one is reached, and all moves are reversible.
  const queue = [start]
  for (const square of queue)
    for (const move of MOVES) {
      const next = drive(square, move)
      if (distances[numberOf(next)] !== undefined) continue
      distances[numberOf(next)] = (distances[numberOf(square)] as number) + 1
      queue.push(next)
    }
  return distances
}

function numberOf({ row, column }: Square): number {
  return row * SIZE + column
}
