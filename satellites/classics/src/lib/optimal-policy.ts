import { definePolicy, type Policy } from '@episodic/env'
import { valueIteration } from './solve/value-iteration.ts'
import { type TabledWorld, type TransitionTable, tableOf } from './table-of.ts'

const plans = new WeakMap<TransitionTable, ReturnType<typeof valueIteration>>()

/**
 * Returns a policy that plays the best action for the steps that are left, by value iteration over the table of the
 * world's own rules. No policy earns more within the limit of steps. The first episode with new parameters makes the
 * table.
 */
export function optimalPolicy(world: TabledWorld): Policy {
  return definePolicy({
    name: 'value-iteration',
    start({ task }) {
      const table = tableOf(world, task.params)
      const values = planOf(table)
      let left = table.steps
      return ({ structured }) => {
        const action = values.action({ public: structured ?? {}, private: {} }, left)
        // If a session allows more steps than the world does, the plan starts again.
        left = left > 1 ? left - 1 : table.steps
        return action
      }
    },
  })
}

function planOf(table: TransitionTable): ReturnType<typeof valueIteration> {
  const plan = plans.get(table) ?? valueIteration(table)
  plans.set(table, plan)
  return plan
}
