import type { Action } from '@episodic/protocol'
import { optionInvalid } from '../env-error.ts'
import { definePolicy, type Policy } from './policy.ts'

/** Returns a policy that plays a list of actions. If the list is too short, the episode fails with `option-invalid`. */
export function scriptedPolicy(actions: readonly Action[], name = 'scripted'): Policy {
  return definePolicy({
    name,
    start() {
      let next = 0
      return () => {
        const action = actions[next]
        if (!action)
          throw optionInvalid(
            `The script is over after ${actions.length === 1 ? '1 action' : `${actions.length} actions`}, and the episode goes on.`,
          )
        next += 1
        return action
      }
    },
  })
}
