import { definePolicy, type Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { type Action, canonicalJson, createRng, type JsonObject } from '@episodic/protocol'
import { makeOnce } from './make-once.ts'
import { gameTree } from './solve/game-tree.ts'

export type GameTree = ReturnType<typeof gameTree>

/** The strategies of all seats: probabilities of the actions of an information set. */
export type Profile = GameTree['uniform']

/**
 * Returns a policy that plays a profile of the whole game, with its own probabilities, for every seat. For games whose
 * view of a seat determines its information set. The first episode with new parameters solves the game.
 */
export function solvedPolicy(
  environment: EnvironmentDefinition,
  name: string,
  solve: (tree: GameTree) => Profile,
): Policy {
  const plans = makeOnce<ReturnType<typeof planOf>>()
  return definePolicy({
    name,
    start({ task, seed }) {
      const tree = treeOf(environment, task.params)
      const plan = plans(environment, task.params, () => planOf(tree, solve(tree)))
      const rng = createRng(seed)
      return ({ structured }) => {
        const known = plan.get(canonicalJson(structured ?? {}))
        if (!known) throw new RangeError(`${environment.name} was not solved for ${JSON.stringify(structured)}.`)
        let left = rng.float()
        for (const [action, chance] of known.chances.entries()) {
          left -= chance
          if (left < 0) return known.decision.actions[action] as Action
        }
        // Rounding leaves a rest; an action that is never taken must not get it.
        return known.decision.actions[known.chances.findLastIndex((chance) => chance > 0)] as Action
      }
    },
  })
}

/** Returns the policy of {@link solvedPolicy} for the average strategies of CFR+, which are close to an equilibrium. */
export function cfrPlusPolicy(environment: EnvironmentDefinition, iterations: number): Policy {
  return solvedPolicy(environment, 'cfr-plus', (tree) => tree.cfrPlus(iterations))
}

function planOf(tree: GameTree, profile: Profile) {
  return new Map(
    tree.decisions.map((decision) => [
      canonicalJson(decision.observation.structured ?? {}),
      { decision, chances: profile(decision) },
    ]),
  )
}

const trees = makeOnce<GameTree>()

/** Returns the tree of a game. Each is made once. */
export function treeOf(environment: EnvironmentDefinition, params: JsonObject = {}): GameTree {
  return trees(environment, params, () => gameTree(environment, params))
}
