import type { Step } from '@episodic/protocol'

/**
 * The result of `step`: the step, and its `end` as two booleans, both `false` while the episode goes on.
 */
export interface StepResult extends Step {
  /** The environment's rules ended the episode. */
  readonly terminated: boolean
  /** A limit of steps or time, or a close, ended the episode. */
  readonly truncated: boolean
}

/** Adds the two booleans to a step. */
export function stepResultOf(step: Step): StepResult {
  return { ...step, terminated: step.end?.kind === 'terminated', truncated: step.end?.kind === 'truncated' }
}
