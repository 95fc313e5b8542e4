import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { type Action, canonicalJson, type JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { type Branch, mergeBranches } from './enumerate-draws.ts'
import { listActions } from './listed-actions.ts'
import { listOutcomes, listStarts, type Result } from './outcomes.ts'
import type { SolvedPolicy } from './value-iteration.ts'

export interface BeliefValueOptions {
  /** Default: the environment's own. */
  readonly params?: JsonObject
  /** Default `optimal`. */
  readonly policy?: SolvedPolicy
}

/**
 * The states that are possible after what a player has seen, with weights that sum up to 1. All have one public state.
 */
type Belief = readonly Branch<SessionState>[]

/** Beliefs that are searched before the search is given up. */
const MOST_BELIEFS = 1_000_000

/**
 * Computes the exact expected return of an episode for a player that sees the public state and not the private one: the
 * value of the belief states, by the environment's own rules with every draw in each way that it can go. Answers are
 * taken to tell nothing but the public state after them.
 *
 * For environments whose rules end every episode; their limit of steps is not applied. Throws `option-invalid` if an
 * episode can go on for ever, rules draw with `rng.float`, legal actions are not enumerated, or there are more than a
 * million beliefs.
 */
export function beliefValue(
  environment: EnvironmentDefinition,
  { params = {}, policy = 'optimal' }: BeliefValueOptions = {},
): number {
  const parsed = environment.params.parse(params) as JsonObject
  const values = new Map<string, number | 'open'>()
  const outcomes = new Map<string, Branch<Result>[]>()
  const outcomesOf = (state: SessionState, action: Action): Branch<Result>[] => {
    const key = canonicalJson([{ ...state }, { ...action }])
    const known = outcomes.get(key) ?? mergeBranches(listOutcomes(environment, parsed, state, action))
    outcomes.set(key, known)
    return known
  }
  const play = (belief: Belief, action: Action): number => {
    let value = 0
    const next: Branch<SessionState>[] = []
    for (const { probability: weight, value: state } of belief) {
      for (const { probability, value: result } of outcomesOf(state, action)) {
        value += weight * probability * result.reward
        if (!result.done) next.push({ probability: weight * probability, value: result.state })
      }
    }
    return value + sumOfValues(next)
  }
  const valueOfBelief = (belief: Belief): number => {
    const key = toBeliefKey(belief)
    const known = values.get(key)
    if (known === 'open')
      throw new ServerError(
        'option-invalid',
        `An episode of ${environment.name} can go on for ever; use a transition table.`,
      )
    if (known !== undefined) return known
    if (values.size === MOST_BELIEFS)
      throw new ServerError('option-invalid', `${environment.name} has more than ${MOST_BELIEFS} beliefs.`)
    values.set(key, 'open')
    const [{ value: state }] = belief as [Branch<SessionState>]
    const actions = typeof policy === 'function' ? [policy(state.public)] : listActions(environment, state, parsed)
    const returns = actions.map((action) => play(belief, action))
    const value =
      policy === 'uniform' ? returns.reduce((sum, one) => sum + one, 0) / returns.length : Math.max(...returns)
    values.set(key, value)
    return value
  }
  /** Sorts states by what the player sees of them, and adds up the values of the beliefs that this leads to. */
  const sumOfValues = (states: Belief): number => {
    const bySeen = Map.groupBy(states, ({ value }) => canonicalJson(value.public))
    let sum = 0
    for (const alike of bySeen.values()) {
      const weight = alike.reduce((total, { probability }) => total + probability, 0)
      sum +=
        weight *
        valueOfBelief(
          mergeBranches(alike.map(({ probability, value }) => ({ probability: probability / weight, value }))),
        )
    }
    return sum
  }
  return sumOfValues(mergeBranches(listStarts(environment, parsed)))
}

/** Beliefs whose weights differ by rounding alone are the same. */
function toBeliefKey(belief: Belief): string {
  return belief
    .map(({ probability, value }) => `${canonicalJson({ ...value })} ${probability.toPrecision(12)}`)
    .sort()
    .join('\n')
}
