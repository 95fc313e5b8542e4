import { gameTree } from '@episodic/classics/solve'
import { seedFor } from '@episodic/protocol'
import type { World } from '../worlds/world.ts'
import type { Actor } from './actor.ts'
import type { AveragePolicy } from './average-policy.ts'
import type { Rollouts } from './rollouts.ts'

/** How good a policy is. */
export interface Score {
  /** The mean return without shaping. In a game: minus the exploitability, in chips a hand. */
  readonly return: number
  /** The share of episodes that succeeded; `null` in a game. */
  readonly success: number | null
}

export interface HeldOut {
  readonly episodes: number
  /** Episodes that are played at once. */
  readonly batch: number
  /** Whether the policy draws its actions, as in training. Default: it takes the most likely ones. */
  readonly drawn?: boolean | undefined
}

/** Plays a world on seeds that no training has: their names differ, and so do all seeds. */
export async function playHeldOut(
  rollouts: Rollouts,
  actor: Actor,
  { episodes, batch, drawn = false }: HeldOut,
): Promise<Score> {
  let [total, successes] = [0, 0]
  for (let first = 0; first < episodes; first += batch) {
    const seeds = Array.from({ length: Math.min(batch, episodes - first) }, (_, at) => ({
      environment: seedFor('curves', 'episode', first + at),
      actions: drawn ? seedFor('curves', 'actions', first + at) : null,
    }))
    for (const trajectory of (await rollouts.play(actor, seeds)).trajectories) {
      total += trajectory.return
      successes += trajectory.success ? 1 : 0
    }
  }
  return { return: total / episodes, success: successes / episodes }
}

/**
 * Returns a function that computes how far a policy is from an equilibrium of a game of two seats: half the sum of what
 * best responses gain against it. It is exact, so it needs no seeds.
 */
export function createExploitability({
  environment,
  params,
  encode,
  actions,
}: World): (policy: Pick<AveragePolicy, 'probabilities'>) => Score {
  const tree = gameTree(environment, params)
  return (policy) => {
    const nashConv = tree.nashConv((decision) => {
      const probabilities = policy.probabilities(encode(decision.observation))
      return decision.actions.map(
        ({ arguments: wanted }) =>
          probabilities[actions.findIndex((action) => JSON.stringify(action.arguments) === JSON.stringify(wanted))] ??
          0,
      )
    })
    return { return: -nashConv / 2, success: null }
  }
}
