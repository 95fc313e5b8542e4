import type { LimitsRequest } from '@episodic/protocol'
import { delegate, type Environment } from './environment.ts'

/**
 * Sets limits for every episode, which the host enforces. If a task or a snapshot sets a limit too, the smaller one
 * applies.
 */
export function withLimits(environment: Environment, limits: LimitsRequest): Environment {
  return delegate(
    environment,
    {
      reset: (task = {}, options) =>
        environment.reset({ ...task, limits: smaller(task.limits ?? {}, limits) }, options),
      restore(snapshot, options) {
        const { seconds, ...counts } = snapshot.limits
        const lowered = smaller(seconds === null ? counts : { ...counts, seconds }, limits)
        return environment.restore({ ...snapshot, limits: { ...snapshot.limits, ...lowered } }, options)
      },
    },
    (fork) => withLimits(fork, limits),
  )
}

function smaller(a: LimitsRequest, b: LimitsRequest): LimitsRequest {
  const merged: Record<string, number> = {}
  for (const key of ['steps', 'seconds', 'bytes'] as const) {
    const values = [a[key], b[key]].filter((value) => value !== undefined)
    if (values.length > 0) merged[key] = Math.min(...values)
  }
  return merged
}
