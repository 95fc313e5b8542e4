export const ROWS = 4
export const COLUMNS = 12

/** The directions in Gymnasium's order, in which action 0 is up. Neighbors in the cyclic order are perpendicular. */
export const DIRECTIONS = ['up', 'right', 'down', 'left'] as const
export type Direction = (typeof DIRECTIONS)[number]

/** Squares are counted row by row from 0 at the top left. */
export const START = 36
export const GOAL = 47

/** The directions that a move may take, each equally likely. */
export function directionsOf(slippery: boolean, intended: Direction): Direction[] {
  const index = DIRECTIONS.indexOf(intended)
  return (slippery ? [index - 1, index, index + 1] : [index]).map(
    (at) => DIRECTIONS.at(at % DIRECTIONS.length) as Direction,
  )
}

/** The square in a direction, or the same one at the edge. */
export function neighbour(position: number, direction: Direction): number {
  const row = Math.floor(position / COLUMNS)
  const column = position % COLUMNS
  switch (direction) {
    case 'up':
      return row > 0 ? position - COLUMNS : position
    case 'right':
      return column < COLUMNS - 1 ? position + 1 : position
    case 'down':
      return row < ROWS - 1 ? position + COLUMNS : position
    case 'left':
      return column > 0 ? position - 1 : position
  }
}

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
