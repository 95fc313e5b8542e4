import { definePolicy, type Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { gameTree } from '@episodic/mcp-server/solve'
import { type Action, canonicalJson, createRng } from '@episodic/protocol'

type GameTree = ReturnType<typeof gameTree>

/**
 * Returns a policy that plays the average strategy of CFR+, with its own probabilities: close to an equilibrium, for every seat.
 * For games whose view of a seat determines its information set. The first episode with new parameters solves the game.
 */
export function solvedPolicy(environment: EnvironmentDefinition, iterations: number): Policy {
  const solved = new Map<string, ReturnType<typeof solve>>()
  return definePolicy({
    name: 'cfr-plus',
    start({ task, seed }) {
      const key = canonicalJson(task.params)
      const known = solved.get(key) ?? solve(treeOf(environment, task.params), iterations)
      solved.set(key, known)
      const rng = createRng(seed)
      return ({ structured }) => {
        const plan = known.get(canonicalJson(structured ?? {}))
        if (!plan) throw new RangeError(`${environment.name} was not solved for ${JSON.stringify(structured)}.`)
        let left = rng.float()
        for (const [action, chance] of plan.chances.entries()) {
          left -= chance
          if (left < 0) return plan.decision.actions[action] as Action
        }
        return plan.decision.actions.at(-1) as Action
      }
    },
  })
}

function solve(tree: GameTree, iterations: number) {
  const profile = tree.cfrPlus(iterations)
  return new Map(
    tree.decisions.map((decision) => [
      canonicalJson(decision.observation.structured ?? {}),
      { decision, chances: profile(decision) },
    ]),
  )
}

const trees = new WeakMap<EnvironmentDefinition, Map<string, GameTree>>()

/** Returns the tree of a game. Each is made once. */
export function treeOf(environment: EnvironmentDefinition, params: Parameters<typeof gameTree>[1] = {}): GameTree {
  const known = trees.get(environment) ?? new Map<string, GameTree>()
  trees.set(environment, known)
  const key = canonicalJson(params)
  const tree = known.get(key) ?? gameTree(environment, params)
  known.set(key, tree)
  return tree
}
