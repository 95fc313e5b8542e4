export const STEPS = { up: [-1, 0], right: [0, 1], down: [1, 0], left: [0, -1] } as const
export type Direction = keyof typeof STEPS

/**
 * The directions that a move may take, each equally likely: on slippery ground the intended one and both perpendicular
 * ones, which are its neighbors in the cyclic order of the four.
 */
export function directionsOf(cyclic: readonly Direction[], slippery: boolean, intended: Direction): Direction[] {
  const index = cyclic.indexOf(intended)
  return (slippery ? [index - 1, index, index + 1] : [index]).map((at) => cyclic.at(at % cyclic.length) as Direction)
}

/** The square in a direction, of those that are counted row by row from 0; the same one at the edge. */
export function neighbour(
  { rows, columns }: { readonly rows: number; readonly columns: number },
  position: number,
  direction: Direction,
): number {
  const row = Math.floor(position / columns) + STEPS[direction][0]
  const column = (position % columns) + STEPS[direction][1]
  return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : position
}

/** The fewest moves from each of some squares to one, breadth first; `Infinity` from those that no move leads to. */
export function distancesTo(goal: number, squares: number, movesFrom: (square: number) => readonly number[]): number[] {
  const distances = Array<number>(squares).fill(Number.POSITIVE_INFINITY)
  distances[goal] = 0
  const queue = [goal]
  for (const square of queue)
    for (const next of movesFrom(square)) {
      if (distances[next] !== Number.POSITIVE_INFINITY) continue
      distances[next] = (distances[square] as number) + 1
      queue.push(next)
    }
  return distances
}
