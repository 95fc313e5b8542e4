import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { backwardInduction } from './backward-induction.ts'
import { nashConvOf, respondBest } from './best-response.ts'
import { type GameEnding, listEndings } from './game-endings.ts'
import { type Decision, type GameGraph, walkGame } from './game-graph.ts'
import { type Probabilities, profileValue } from './profile-values.ts'
import { minimizeRegret } from './regret-minimization.ts'

/**
 * The strategies of all seats: returns the probabilities of the actions of an information set, in the order of its
 * actions.
 */
export type Profile = (decision: Decision) => readonly number[]

/** A whole game of several seats. Expected returns are by seat, and without a limit of steps. */
export interface GameTree {
  /** The information sets of all seats: what a seat was shown and did, and what it can do now. */
  readonly decisions: readonly Decision[]
  /** Positions in which a seat has to act. */
  readonly nodes: number
  /** Ways in which an episode ends. */
  readonly ends: number
  /** Every legal action equally often. */
  readonly uniform: Profile
  /** Returns what each seat is expected to earn. */
  value(profile: Profile): { readonly [seat: string]: number }
  /** Returns the most that a seat can earn against the others of a profile, and the profile in which it does. */
  bestResponse(profile: Profile, seat: string): { readonly value: number; readonly profile: Profile }
  /** Returns the sum of what each seat gains by its best response: 0 in a Nash equilibrium, and only there. */
  nashConv(profile: Profile): number
  /** Lists what the seats may have earned in the end, most likely first. `returns` are in the order of the seats. */
  endings(profile: Profile): readonly GameEnding[]
  /**
   * Returns the profile in which every seat takes its best actions, each equally often, given that all do so later.
   * Throws `option-invalid` for a game in which a seat has to act without knowing its position.
   */
  backwardInduction(): Profile
  /**
   * Returns the average strategies of counterfactual regret minimization with alternating updates. Throws
   * `option-invalid` for a game that is not a zero-sum game of two seats.
   */
  cfr(iterations: number): Profile
  /** The same by CFR+, which gets close to an equilibrium much faster. */
  cfrPlus(iterations: number): Profile
}

/** Rewards that add up to less are zero-sum up to rounding. */
const ROUNDING = 1e-9

/**
 * Walks a small game by its served rules, with every draw in each way that it can go, and computes values, best
 * responses and equilibria. What a seat was shown and did makes its information sets, so a leak of hidden state changes
 * their number.
 *
 * Every method takes profiles of this tree alone. Throws `option-invalid` for an environment of one seat, if the rules
 * draw with `rng.float`, legal actions are not enumerated or are refused, several seats may act in any order, a game
 * can go on for ever, or there are more than `most` branches, by default a million.
 */
export function gameTree(
  environment: EnvironmentDefinition,
  params: JsonObject = {},
  { most = 1_000_000 }: { readonly most?: number } = {},
): GameTree {
  const graph = walkGame(environment, environment.params.parse(params) as JsonObject, most)
  const { seats, nodes, decisions, starts } = graph
  const numbers = new Map(decisions.map((decision, number) => [decision, number]))
  const probabilitiesOf = (profile: Profile): Probabilities =>
    decisions.map((decision) => {
      const chances = profile(decision)
      const total = chances.reduce((sum, chance) => sum + chance, 0)
      if (
        chances.length === decision.actions.length &&
        chances.every((chance) => chance >= 0) &&
        Math.abs(total - 1) < ROUNDING
      )
        return chances
      throw new ServerError(
        'option-invalid',
        `The profile gives ${JSON.stringify(chances)} for ${decision.actions.length} actions of ${decision.seat}; the sum has to be 1.`,
      )
    })
  const profileOf =
    (probabilities: Probabilities): Profile =>
    (decision) => {
      const known = probabilities[numbers.get(decision) ?? -1]
      if (known) return known
      throw new ServerError('option-invalid', 'The information set is of another tree.')
    }
  const solve = (iterations: number, plus: boolean): Profile => {
    assertZeroSum(environment.name, graph)
    return profileOf(minimizeRegret(graph, iterations, { plus }))
  }
  const branches = [starts, ...nodes.flatMap(({ outcomes }) => outcomes)].flat()
  return {
    decisions,
    nodes: nodes.length,
    ends: branches.filter(({ next }) => next === null).length,
    uniform: ({ actions }) => actions.map(() => 1 / actions.length),
    value(profile) {
      const values = profileValue(graph, probabilitiesOf(profile))
      return Object.fromEntries(seats.map((seat, at) => [seat, values[at] as number]))
    },
    bestResponse(profile, seat) {
      const { value, choices } = respondBest(graph, probabilitiesOf(profile), seatNumber(seats, seat))
      return {
        value,
        profile(decision) {
          const choice = choices.get(numbers.get(decision) ?? -1)
          return decision.seat === seat && choice !== undefined
            ? decision.actions.map((_, action) => (action === choice ? 1 : 0))
            : profile(decision)
        },
      }
    },
    endings: (profile) => listEndings(graph, probabilitiesOf(profile)),
    backwardInduction: () => profileOf(backwardInduction(environment.name, graph)),
    nashConv: (profile) => nashConvOf(graph, probabilitiesOf(profile)),
    cfr: (iterations) => solve(iterations, false),
    cfrPlus: (iterations) => solve(iterations, true),
  }
}

function seatNumber(seats: readonly string[], seat: string): number {
  const number = seats.indexOf(seat)
  if (number >= 0) return number
  throw new ServerError('option-invalid', `There is no seat "${seat}". The seats are: ${seats.join(', ')}.`)
}

function assertZeroSum(name: string, { seats, nodes }: GameGraph): void {
  const isZero = nodes.every(({ outcomes }) =>
    outcomes.flat().every(({ rewards }) => Math.abs(rewards.reduce((sum, one) => sum + one, 0)) < ROUNDING),
  )
  if (seats.length !== 2 || !isZero)
    throw new ServerError('option-invalid', `${name} is not a zero-sum game of two seats.`)
}
