import { isEnd, MAPS, type MapName, tilesOf } from './maps.ts'

/** The directions in Gymnasium's order, in which action 0 is left. Neighbors in the cyclic order are perpendicular. */
export const DIRECTIONS = ['left', 'down', 'right', 'up'] as const
export type Direction = (typeof DIRECTIONS)[number]

/**
 * The directions that a move may take, each equally likely: on slippery ice the intended one and both perpendicular
 * ones. None from a hole or the goal, which hold a walker.
 */
export function directionsOf(map: MapName, slippery: boolean, position: number, intended: Direction): Direction[] {
  if (isEnd(tilesOf(map)[position])) return []
  const index = DIRECTIONS.indexOf(intended)
  return (slippery ? [index - 1, index, index + 1] : [index]).map(
    (at) => DIRECTIONS.at(at % DIRECTIONS.length) as Direction,
  )
}

/** The tile in a direction, or the same one at the edge. */
export function neighbour(map: MapName, position: number, direction: Direction): number {
  const size = MAPS[map].length
  const row = Math.floor(position / size)
  const column = position % size
  switch (direction) {
    case 'left':
      return column > 0 ? position - 1 : position
    case 'down':
      return row < size - 1 ? position + size : position
    case 'right':
      return column < size - 1 ? position + 1 : position
    case 'up':
      return row > 0 ? position - size : position
  }
}
