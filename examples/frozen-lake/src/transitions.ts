import { isEnd, MAPS, type MapName, tilesOf } from './maps.ts'

/** The directions in Gymnasium's order, in which action 0 is left. Neighbors in the cyclic order are perpendicular. */
export const DIRECTIONS = ['left', 'down', 'right', 'up'] as const
export type Direction = (typeof DIRECTIONS)[number]

/** A possible outcome of a move. */
export interface Outcome {
  readonly probability: number
  /** Counts tiles row by row from 0. */
  readonly position: number
}

/** The outcomes of each move from each position: `table[position][direction]`. The probabilities of a move sum up to 1. */
export type TransitionTable = readonly Readonly<Record<Direction, readonly Outcome[]>>[]

/** Probabilities on slippery ice of the intended direction and of each side: Gymnasium's defaults. */
const SUCCESS_RATE = 1 / 3
const SIDE_RATE = (1 - SUCCESS_RATE) / 2

/**
 * The transition table of a lake. On slippery ice a move goes in the intended direction and to each perpendicular side with
 * probability ⅓. A move over the edge stays; holes and the goal are absorbing.
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

/** The tile in a direction, or the same one at the edge. `index` is taken modulo the number of directions. */
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
 * Picks an outcome with a uniform number from [0, 1): the first whose cumulative probability is above it, as Gymnasium does.
 */
export function pickOutcome(outcomes: readonly Outcome[], drawn: number): Outcome {
  let cumulated = 0
  for (const outcome of outcomes) {
    cumulated += outcome.probability
    if (cumulated > drawn) return outcome
  }
  // Rounded thirds may sum up to slightly less than 1.
  return outcomes.at(-1) as Outcome
}
