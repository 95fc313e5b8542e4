import type { Numbers } from '../network/network.ts'

/** The steps of one episode, as one seat played them. */
export interface Trajectory {
  /** What the network was shown at each step. */
  readonly inputs: readonly Numbers[]
  /** The number of the action that was taken. */
  readonly actions: readonly number[]
  /** What was earned by each action, shaping included, until the seat acted again. */
  readonly rewards: readonly number[]
  /**
   * The input after the last step if a limit cut the episode off: what was still to come is then estimated by the
   * value. `null` if the rules ended it.
   */
  readonly cutOff: Numbers | null
  /** The sum of the rewards without shaping. */
  readonly return: number
  readonly success: boolean
}

/** Episodes that were played at once. */
export interface Rollout {
  readonly trajectories: readonly Trajectory[]
  /** Steps of all episodes. */
  readonly steps: number
  /**
   * Milliseconds of CPU time in which the network chose actions. All other CPU time of a rollout is spent on the
   * environment.
   */
  readonly acting: number
  /** Episodes that failed, which are no data and were played again. */
  readonly failures: number
}
