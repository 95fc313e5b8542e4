import type { Action } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'
import { definePolicy, type Policy } from './policy.ts'

/** A policy that plays a list of actions, and fails the episode with `option-invalid` when the list runs out before it ends. */
export function scriptedPolicy(actions: readonly Action[], name = 'scripted'): Policy {
  return definePolicy({
    name,
    start() {
      let next = 0
      return () => {
        const action = actions[next]
        if (!action)
          throw new EnvError('option-invalid', `The script has ${actions.length} actions, and the episode wants more.`)
        next += 1
        return action
      }
    },
  })
}
