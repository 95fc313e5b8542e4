import { ServerError } from '@episodic/mcp-server'
import type { GameGraph } from './game-graph.ts'
import { expect, type Probabilities } from './profile-values.ts'

/** Actions whose values differ by less are equally good. */
const ROUNDING = 1e-9

/**
 * Gives every seat its best actions, each equally often, from the ends of a game backwards. Throws `option-invalid` for
 * a game in which a seat has to act without knowing its position.
 */
export function backwardInduction(name: string, { seats, nodes, decisions }: GameGraph): Probabilities {
  if (nodes.length > decisions.length)
    throw new ServerError(
      'option-invalid',
      `In ${name} a seat has to act without knowing its position, so the game cannot be solved backwards. Use cfrPlus.`,
    )
  const values = seats.map(() => new Float64Array(nodes.length))
  const profile: number[][] = []
  for (const [at, { seat, decision, outcomes }] of nodes.entries()) {
    const worth = outcomes.map((branches) => values.map((known, other) => expect(branches, other, known)))
    const most = Math.max(...worth.map((of) => of[seat] as number))
    const best = worth.map((of) => most - (of[seat] as number) < ROUNDING)
    const share = 1 / best.filter(Boolean).length
    const chances = best.map((isBest) => (isBest ? share : 0))
    profile[decision] = chances
    for (const [other, known] of values.entries())
      known[at] = worth.reduce((sum, of, action) => sum + (chances[action] as number) * (of[other] as number), 0)
  }
  return profile
}
