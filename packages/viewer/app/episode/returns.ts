import type { Reward } from '@episodic/protocol'

export interface RunningReturn {
  /** Sum of the rewards up to the step, its own included. */
  readonly sum: number
  /** Sum of the rewards from the step on, its own included: the return to go, not discounted. */
  readonly toGo: number
}

export function runningReturns(steps: readonly { readonly reward: Reward }[]): RunningReturn[] {
  const total = steps.reduce((sum, { reward }) => sum + reward.total, 0)
  let sum = 0
  return steps.map(({ reward }) => {
    const toGo = total - sum
    sum += reward.total
    return { sum, toGo }
  })
}

/** Returns the steps at which something happened to a reader: the reward is not what it was before, or a refusal. */
export function notableSteps(steps: readonly { readonly reward: Reward; readonly refused: unknown }[]): number[] {
  return [...steps.keys()].filter((i) => {
    const [step, before] = [steps[i], steps[i - 1]]
    if (!step) return false
    const changed = Math.abs(step.reward.total - (before?.reward.total ?? 0)) > 1e-9
    return changed || step.refused !== null
  })
}
