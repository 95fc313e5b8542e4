import type { Trajectory } from './trajectory.ts'

/** How often each action was taken in self-play, by input. */
export interface AveragePolicy {
  add(trajectories: readonly Trajectory[]): void
  /** Returns the shares of the actions for an input; equal ones for an input that was never seen. */
  probabilities(input: ArrayLike<number>): number[]
}

/**
 * Counts what a policy does while it learns. In self-play two policies that improve against each other may go round in
 * circles for ever, and it is the average of all of them that gets close to an equilibrium (Brown, "Iterative solution
 * of games by fictitious play", 1951; Heinrich and Silver, "Deep reinforcement learning from self-play in
 * imperfect-information games", 2016).
 */
export function createAveragePolicy(actions: number): AveragePolicy {
  const counts = new Map<string, number[]>()
  const keyOf = (input: ArrayLike<number>) => Array.from(input).join()
  return {
    add(trajectories) {
      for (const { inputs, actions: taken } of trajectories)
        for (const [step, input] of inputs.entries()) {
          const key = keyOf(input)
          const own = counts.get(key) ?? new Array<number>(actions).fill(0)
          const action = taken[step] as number
          own[action] = (own[action] as number) + 1
          counts.set(key, own)
        }
    },
    probabilities(input) {
      const own = counts.get(keyOf(input)) ?? new Array<number>(actions).fill(1)
      const sum = own.reduce((total, count) => total + count, 0)
      return own.map((count) => count / sum)
    },
  }
}
