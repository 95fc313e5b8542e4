import { distancesTo, neighbour } from '../grid-walk.ts'

/** Squares are counted row by row from 0 at the top left. */
export const GRID = { rows: 4, columns: 12 } as const
export const START = 36
export const GOAL = 47

/** The directions in Gymnasium's order, in which action 0 is up. Neighbors in the cyclic order are perpendicular. */
export const DIRECTIONS = ['up', 'right', 'down', 'left'] as const

export function isCliff(position: number): boolean {
  return position > START && position < GOAL
}

/** The fewest moves from each square to the goal on firm ground, around the cliff. */
export const DISTANCES = distancesTo(GOAL, GOAL + 1, (position) =>
  DIRECTIONS.map((direction) => neighbour(GRID, position, direction)).filter((next) => !isCliff(next)),
)
