import { isEnd, type MapName, tilesOf } from './maps.ts'
import { DIRECTIONS, type Direction, type Outcome, transitionsOf } from './transitions.ts'

/** The best way to cross a lake in a given number of moves. */
export interface Optimum {
  /** The probability of reaching the goal in `left` more moves: no player can do better. */
  value(position: number, left: number): number
  /** The best move with `left` moves to go, at least one. Of equally good ones the quickest. */
  move(position: number, left: number): Direction
}

/** What is best at one position: where to go, how likely the goal is then, and how many moves that takes on average. */
interface Choice {
  readonly direction: Direction
  readonly value: number
  readonly moves: number
}

/** Values that differ by less are equal: their sums were only rounded differently. */
const ROUNDING = 1e-12
const NOTHING_LEFT: Choice = { direction: 'left', value: 0, moves: 0 }

/**
 * Works out the best moves by value iteration over the moves that are left (Sutton & Barto, Reinforcement Learning,
 * 2nd ed., section 4.4, for a finite horizon and no discount):
 *
 * V₀(s) = 0, and Vₖ(s) = maxₐ Σ p(s′ | s, a) · (1 where s′ is the goal, 0 where it is a hole, else Vₖ₋₁(s′)).
 *
 * With the moves counted down, the result is exact: what a player can get before the step limit. Value alone would let
 * a player idle until the last moment, so among equally good moves the quickest is taken.
 */
export function findOptimum(map: MapName, slippery: boolean, moves: number): Optimum {
  const tiles = tilesOf(map)
  const table = transitionsOf(map, slippery)
  let choices: readonly Choice[] = tiles.map(() => NOTHING_LEFT)
  const plan = [choices]
  for (let left = 1; left <= moves; left++) {
    const next = choices.map((choice, position) => ({ ...choice, value: tiles[position] === 'G' ? 1 : choice.value }))
    choices = table.map((outcomesOf, position) => {
      if (isEnd(tiles[position])) return NOTHING_LEFT
      return DIRECTIONS.map((direction) => expect(direction, outcomesOf[direction], next)).reduce(better)
    })
    plan.push(choices)
  }
  const at = (position: number, left: number): Choice => {
    const choice = plan[left]?.[position]
    if (!choice)
      throw new RangeError(`The plan is for ${moves} moves on ${map}; tile ${position} with ${left} left is not in it.`)
    return choice
  }
  return { value: (position, left) => at(position, left).value, move: (position, left) => at(position, left).direction }
}

function expect(direction: Direction, outcomes: readonly Outcome[], next: readonly Choice[]): Choice {
  let value = 0
  let moves = 1
  for (const { probability, position } of outcomes) {
    value += probability * (next[position]?.value ?? 0)
    moves += probability * (next[position]?.moves ?? 0)
  }
  return { direction, value, moves }
}

function better(first: Choice, other: Choice): Choice {
  if (Math.abs(other.value - first.value) > ROUNDING) return other.value > first.value ? other : first
  return other.moves < first.moves - ROUNDING ? other : first
}
