import { isEnd, MAPS, type MapName, tilesOf } from './maps.ts'

/** Where one can want to go, in Gymnasium's order: its action 0 is left. Neighbours in the ring are perpendicular. */
export const DIRECTIONS = ['left', 'down', 'right', 'up'] as const
export type Direction = (typeof DIRECTIONS)[number]

/** One thing that a move may come to. */
export interface Outcome {
  readonly probability: number
  /** Counts tiles row by row from 0. */
  readonly position: number
}

/** What each move from each position may come to: `table[position][direction]`. Probabilities of a move sum to 1. */
export type TransitionTable = readonly Readonly<Record<Direction, readonly Outcome[]>>[]

/** How often one goes where one wants to on slippery ice, and how often to each side: Gymnasium's defaults. */
const SUCCESS_RATE = 1 / 3
const SIDE_RATE = (1 - SUCCESS_RATE) / 2

/**
 * The transition table of a lake. On slippery ice a move goes where it should with probability ⅓, and to each
 * perpendicular side with ⅓. The edge holds one back; a hole or the goal is never left.
 */
export function transitionsOf(map: MapName, slippery: boolean): TransitionTable {
  return tilesOf(map).map((tile, position) => {
    const outcomesOf = (index: number): readonly Outcome[] => {
      if (isEnd(tile)) return [{ probability: 1, position }]
      if (!slippery) return [{ probability: 1, position: neighbour(map, position, index) }]
      return [
        { probability: SIDE_RATE, position: neighbour(map, position, index - 1) },
        { probability: SUCCESS_RATE, position: neighbour(map, position, index) },
        { probability: SIDE_RATE, position: neighbour(map, position, index + 1) },
      ]
    }
    return { left: outcomesOf(0), down: outcomesOf(1), right: outcomesOf(2), up: outcomesOf(3) }
  })
}

/** The tile in a direction, or the same one at the edge. `index` counts round the ring of directions, from any turn. */
export function neighbour(map: MapName, position: number, index: number): number {
  const size = MAPS[map].length
  const row = Math.floor(position / size)
  const column = position % size
  switch (DIRECTIONS.at(index % DIRECTIONS.length)) {
    case 'left':
      return column > 0 ? position - 1 : position
    case 'down':
      return row < size - 1 ? position + size : position
    case 'right':
      return column < size - 1 ? position + 1 : position
    default:
      return row > 0 ? position - size : position
  }
}

/**
 * Picks an outcome with a number drawn evenly from [0, 1): the first whose cumulated probability is above it, as
 * Gymnasium does.
 */
export function pickOutcome(outcomes: readonly Outcome[], drawn: number): Outcome {
  let cumulated = 0
  for (const outcome of outcomes) {
    cumulated += outcome.probability
    if (cumulated > drawn) return outcome
  }
  // Thirds may cumulate to a hair less than 1.
  return outcomes.at(-1) as Outcome
}
