import { setTimeout } from 'node:timers/promises'
import { definePolicy, type Policy } from '@episodic/env'

/**
 * Waits before every action, so that an episode with a tiny budget of `seconds` ends by `time-limit`.
 *
 * @param milliseconds - of each wait; a little more than the budget is enough.
 */
export function withDelay(policy: Policy, milliseconds: number): Policy {
  return definePolicy({
    name: `slow ${policy.name}`,
    async start(context) {
      const player = await policy.start(context)
      return async (observation, view) => {
        await setTimeout(milliseconds)
        return player(observation, view)
      }
    },
  })
}
