import { distancesTo } from '../grid-walk.ts'
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
  // All moves are reversible.
  return distancesTo(numberOf(squareOf(stop)), SIZE ** 2, (number) =>
    MOVES.map((move) => numberOf(drive({ row: Math.floor(number / SIZE), column: number % SIZE }, move))),
  )
}

function numberOf({ row, column }: Square): number {
  return row * SIZE + column
}
