import { PlayerStop, type Policy } from '@episodic/env'
import { abortable } from '@episodic/protocol/internal'
import { wrapPolicy } from '@episodic/run/base/wrap-policy'

/** Returns a policy whose players stop with `out-of-time` if an episode takes longer, whatever they wait for then. */
export function withTimeLimit(policy: Policy, seconds: number): Policy {
  return wrapPolicy(policy, async (begin) => {
    const late = AbortSignal.timeout(seconds * 1_000)
    const player = await begin()
    return async (observation, view) => {
      const either = view.signal ? AbortSignal.any([view.signal, late]) : late
      try {
        late.throwIfAborted()
        return await abortable(Promise.resolve(player(observation, { ...view, signal: either })), late)
      } catch (error) {
        if (!late.aborted || view.signal?.aborted) throw error
        throw new PlayerStop('out-of-time', `The episode was still being played after ${seconds} s.`)
      }
    }
  })
}
