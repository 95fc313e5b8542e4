import { isEnd, type MapName, tilesOf } from './maps.ts'
import { DIRECTIONS, type Direction, type Outcome, transitionsOf } from './transitions.ts'

/** The optimal policy for a finite number of moves. */
export interface Optimum {
  /** The highest probability of reaching the goal in `left` more moves. */
  value(position: number, left: number): number
  /** An optimal move with `left` moves to go, at least 1; the quickest of equally good ones. */
  move(position: number, left: number): Direction
}

/** The optimum at one position: the move, the probability of the goal, and the expected number of moves. */
interface Choice {
  readonly direction: Direction
  readonly value: number
  readonly moves: number
}

/** Values that differ by less are equal up to rounding. */
const ROUNDING = 1e-12
const NOTHING_LEFT: Choice = { direction: 'left', value: 0, moves: 0 }

/**
 * Computes the optimal moves by value iteration over the remaining moves (Sutton & Barto, Reinforcement Learning, 2nd ed.,
 * section 4.4, for a finite horizon and without discount):
 *
 * V₀(s) = 0, and Vₖ(s) = maxₐ Σ p(s′ | s, a) · (1 if s′ is the goal, 0 if it is a hole, else Vₖ₋₁(s′)).
 *
 * Since k counts the moves down, the result is exact for the step limit. Among equally good moves the quickest is taken,
 * because value alone would let a player idle until the end.
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
