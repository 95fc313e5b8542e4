import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { canonicalJson, type Json, type JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { type GamePosition, listGameOutcomes, listGameStarts } from './game-outcomes.ts'
import { listActions } from './listed-actions.ts'

export interface CountPositionsOptions {
  /** Default: the environment's own. */
  readonly params?: JsonObject
  /** Steps after which no position is played on. Default: none. */
  readonly plies?: number
  /**
   * Returns what makes a position: states that are equal in it are counted once, and only one of them is played on.
   * Default: the whole state.
   */
  readonly keyOf?: (state: SessionState) => Json
  /** Positions that are counted before the walk is given up. Default: a million. */
  readonly most?: number
}

/** What a game of several seats comes to after some steps. Both lists are by the number of steps, from 0. */
export interface PositionCounts {
  /** Different positions, with those in which the game is over. */
  readonly positions: readonly number[]
  /** Courses of play, orders of moves and draws, with those that end there. */
  readonly courses: readonly number[]
}

interface Reached {
  /** `null` if the game is over. */
  readonly position: GamePosition | null
  courses: number
}

/**
 * Counts the positions of a game of several seats, and the courses of play that lead to them, by its served rules. It
 * takes games whose trees are too large for `gameTree`, for as many steps as are asked for.
 *
 * Throws `option-invalid` if the rules cannot be enumerated, as for `gameTree`, or there are more than `most`
 * positions.
 */
export function countPositions(
  environment: EnvironmentDefinition,
  options: CountPositionsOptions = {},
): PositionCounts {
  const { params = {}, plies = Number.POSITIVE_INFINITY, keyOf = (state) => ({ ...state }), most = 1_000_000 } = options
  const parsed = environment.params.parse(params) as JsonObject
  const positions: number[] = []
  const courses: number[] = []
  let found = 0
  const add = (level: Map<string, Reached>, state: SessionState, position: GamePosition | null, ways: number) => {
    const key = canonicalJson([keyOf(state), position && [...position.turn]])
    const known = level.get(key)
    if (known) known.courses += ways
    else if (++found > most)
      throw new ServerError(
        'option-invalid',
        `${environment.name} has more than ${most} positions. Ask for fewer plies.`,
      )
    else level.set(key, { position, courses: ways })
  }
  let level = new Map<string, Reached>()
  for (const { value } of listGameStarts(environment, parsed, most)) add(level, value.state, value, 1)
  while (level.size > 0) {
    positions.push(level.size)
    courses.push([...level.values()].reduce((sum, reached) => sum + reached.courses, 0))
    if (positions.length > plies) break
    const next = new Map<string, Reached>()
    for (const { position, courses: ways } of level.values()) {
      if (!position) continue
      for (const action of listActions(environment, position.state, parsed, position.turn[0]))
        for (const { value } of listGameOutcomes(environment, parsed, position, action))
          add(next, value.state, value.next, ways)
    }
    level = next
  }
  return { positions, courses }
}
