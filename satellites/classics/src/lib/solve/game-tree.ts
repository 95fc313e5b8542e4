import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { type Decision, walkGame } from './game-graph.ts'
import { bestReturn, type Chances, profileReturns } from './game-returns.ts'

/** The strategies of all seats: returns the probabilities of an information set's actions, in their order. */
export type Profile = (decision: Decision) => readonly number[]

/** A whole game. Expected returns are by seat, and without a limit of steps. */
export interface GameTree {
  /** The information sets of all seats: what a seat was shown and did, and what it can do now. */
  readonly decisions: readonly Decision[]
  /** Ways in which an episode ends. */
  readonly ends: number
  /** Every legal action equally often. */
  readonly uniform: Profile
  value(profile: Profile): { readonly [seat: string]: number }
  /** Returns the sum of what each seat gains by its best response: 0 in a Nash equilibrium, and only there. */
  nashConv(profile: Profile): number
}

/**
 * Walks a small game by its served rules, with every draw in each way that it can go, and computes what profiles earn.
 * What a seat was shown and did makes its information sets, so a leak of hidden state changes their number.
 *
 * Throws `option-invalid` if the rules draw with `rng.float`, legal actions are not enumerated or are refused, several
 * seats may act in any order, a game can go on for ever, there are more than `most` branches (default: a million), or a
 * profile gives no probabilities.
 */
export function gameTree(
  environment: EnvironmentDefinition,
  params: JsonObject = {},
  { most = 1_000_000 }: { readonly most?: number } = {},
): GameTree {
  const graph = walkGame(environment, environment.params.parse(params) as JsonObject, most)
  const { seats, nodes, decisions, starts } = graph
  const chancesOf = (profile: Profile): Chances => new Map(decisions.map((one) => [one, checked(one, profile(one))]))
  return {
    decisions,
    ends: [starts, ...nodes.flatMap(({ outcomes }) => outcomes)].flat().filter(({ next }) => next === null).length,
    uniform: ({ actions }) => actions.map(() => 1 / actions.length),
    value(profile) {
      const values = profileReturns(graph, chancesOf(profile))
      return Object.fromEntries(seats.map((seat, at) => [seat, values[at] as number]))
    },
    nashConv(profile) {
      const chances = chancesOf(profile)
      const values = profileReturns(graph, chances)
      return seats.reduce((sum, seat, at) => sum + bestReturn(graph, chances, seat) - (values[at] as number), 0)
    },
  }
}

function checked({ actions, seat }: Decision, chances: readonly number[]): readonly number[] {
  const total = chances.reduce((sum, chance) => sum + chance, 0)
  if (chances.length === actions.length && chances.every((chance) => chance >= 0) && Math.abs(total - 1) < 1e-9)
    return chances
  throw new ServerError(
    'option-invalid',
    `The profile gives ${JSON.stringify(chances)} for ${actions.length} actions of ${seat}; the sum has to be 1.`,
  )
}
