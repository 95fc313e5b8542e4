import { definePolicy, type Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { canonicalJson, type JsonObject } from '@episodic/protocol'
import type { Classic } from './classic.ts'
import { type TransitionTable, transitionTable } from './solve/transition-table.ts'
import { type Values, valueIteration } from './solve/value-iteration.ts'

type TabledWorld = Pick<Classic, 'environment' | 'states' | 'keyOf'>

const made = new WeakMap<EnvironmentDefinition, Map<string, { readonly table: TransitionTable; plan?: Values }>>()

/** Returns the transition table of a world without secrets. Each is made once. */
export function tableOf(world: TabledWorld, params: JsonObject): TransitionTable {
  return solutionOf(world, params).table
}

/**
 * Returns a policy that plays the best action for the steps that are left, by the world's own rules: none earns more
 * within the limit of steps. The first episode with new parameters makes the table.
 */
export function optimalPolicy(world: TabledWorld): Policy {
  return definePolicy({
    name: 'value-iteration',
    start({ task }) {
      const solution = solutionOf(world, task.params)
      solution.plan ??= valueIteration(solution.table)
      const { action } = solution.plan
      const { steps } = solution.table
      let left = 0
      return ({ structured }) => {
        // If a session allows more steps than the world does, the plan starts again.
        left = left > 1 ? left - 1 : steps
        return action({ public: structured ?? {}, private: {} }, left)
      }
    },
  })
}

function solutionOf({ environment, states, keyOf }: TabledWorld, params: JsonObject) {
  const parsed = environment.params.parse(params) as JsonObject
  const solutions = made.get(environment) ?? new Map()
  made.set(environment, solutions)
  const key = canonicalJson(parsed)
  const listed = states?.(parsed).map((state) => ({ public: state, private: {} }))
  const make = () =>
    transitionTable(environment, {
      params: parsed,
      ...(listed && { states: listed }),
      ...(keyOf && { keyOf: (state) => keyOf(state.public) }),
    })
  const solution = solutions.get(key) ?? { table: make() }
  solutions.set(key, solution)
  return solution
}
