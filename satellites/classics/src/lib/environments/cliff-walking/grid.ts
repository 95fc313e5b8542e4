export const ROWS = 4
export const COLUMNS = 12

/** The directions in Gymnasium's order, in which action 0 is up. Neighbors in the cyclic order are perpendicular. */
export const DIRECTIONS = ['up', 'right', 'down', 'left'] as const

/** Squares are counted row by row from 0 at the top left. */
export const START = 36
export const GOAL = 47

export function isCliff(position: number): boolean {
  return position > START && position < GOAL
}

/**
 * The fewest moves to the goal on firm ground: up off the bottom row where the cliff is in the way, across, and down.
 */
export function distanceOf(position: number): number {
  const row = Math.floor(position / COLUMNS)
  const column = position % COLUMNS
  const across = COLUMNS - 1 - column
  return row === ROWS - 1 && across > 0 ? across + 2 : across + ROWS - 1 - row
}
