import { isEnd, type MapName, tilesOf } from './maps.ts'
import { DIRECTIONS, neighbour } from './moves.ts'

/** The moves from each position to the goal on firm ice, around the holes; `Infinity` from a hole. */
export function distancesOf(map: MapName): readonly number[] {
  const tiles = tilesOf(map)
  const distances = tiles.map((tile) => (tile === 'G' ? 0 : Number.POSITIVE_INFINITY))
  // Breadth first from the goal: all moves are reversible, except into holes and the goal.
  const queue = [tiles.indexOf('G')]
  for (const position of queue) {
    for (const direction of DIRECTIONS) {
      const next = neighbour(map, position, direction)
      if (distances[next] !== Number.POSITIVE_INFINITY || isEnd(tiles[next])) continue
      distances[next] = (distances[position] as number) + 1
      queue.push(next)
    }
  }
  return distances
}
