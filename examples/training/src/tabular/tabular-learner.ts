import type { Policy } from '@episodic/env'
import { type Action, createRng, type Observation, seedFor } from '@episodic/protocol'
import { actionAt } from '../episodes/actor.ts'

/** A step that is learned from. */
export interface TabularStep {
  readonly state: string
  readonly action: number
  /** What the action was worth beside what the policy does on average. */
  readonly advantage: number
}

/**
 * A softmax policy with a preference for each state and action, in a table. It learns by the policy gradient: Sutton
 * and Barto, "Reinforcement Learning: An Introduction" (2018), section 13.3.
 */
export interface TabularLearner {
  /** The policy as it is now. Its players draw from their policy seed, and remember nothing. */
  readonly policy: Policy
  /** Returns the number of an action. */
  numberOf(action: Action): number
  /** Adds `rate` · advantage · ∇ log π(action | state) for each step, with the probabilities before the batch. */
  learn(steps: readonly TabularStep[], rate: number): void
  /** The probabilities of the actions in a state. */
  probabilities(state: string): number[]
}

/** Creates a learner whose preferences are all 0: it acts at random. */
export function createTabularLearner(
  name: string,
  actions: readonly Action[],
  stateOf: (observation: Observation) => string,
): TabularLearner {
  const preferences = new Map<string, number[]>()
  const preferencesOf = (state: string) => preferences.get(state) ?? actions.map(() => 0)
  const probabilities = (state: string) => {
    const own = preferencesOf(state)
    const highest = Math.max(...own)
    const weights = own.map((preference) => Math.exp(preference - highest))
    const sum = weights.reduce((total, weight) => total + weight, 0)
    return weights.map((weight) => weight / sum)
  }
  const numbers = new Map(actions.map((action, number) => [JSON.stringify(action.arguments), number]))
  return {
    policy: {
      name,
      start: ({ seed }) => actFrom(seed, 0),
      // A draw follows from the number of the step, so that earlier steps need not be shown again.
      resume: ({ seed }, earlier) => actFrom(seed, earlier.length),
    },
    numberOf: (action) => numbers.get(JSON.stringify(action.arguments)) ?? -1,
    learn(steps, rate) {
      const changes = steps.map((step) => ({ ...step, before: probabilities(step.state) }))
      for (const { state, action, advantage, before } of changes) {
        const own = preferencesOf(state)
        preferences.set(
          state,
          own.map((preference, i) => preference + rate * advantage * (Number(i === action) - (before[i] as number))),
        )
      }
    },
    probabilities,
  }

  function actFrom(seed: string, first: number) {
    let step = first
    return (observation: Observation): Action => {
      const share = createRng(seedFor(seed, 'step', step++)).float()
      return actions[actionAt(probabilities(stateOf(observation)), share)] as Action
    }
  }
}
