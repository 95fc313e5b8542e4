import type { Split, Task } from '@episodic/protocol'
import { optionsInvalid } from './dataset-error.ts'
import { worldId } from './task-id.ts'

/** The share of each split; the three sum to 1. */
export type SplitRatios = Readonly<Record<Split, number>>

export const DEFAULT_SPLITS: SplitRatios = { train: 0.8, validation: 0.1, test: 0.1 }

/**
 * Returns the split that a task belongs to.
 *
 * A pure function of the ratios and of the world that is played: environment name, parameters and seed. So with the
 * same ratios one world is never in two splits, whatever the file, prompt or version, and no list of known worlds is
 * needed. The shares are met on average, not exactly.
 */
export function splitOf(
  task: Pick<Task, 'environment' | 'params' | 'seed'>,
  ratios: SplitRatios = DEFAULT_SPLITS,
): Split {
  const bucket = Number.parseInt(worldId(task).slice(0, 12), 16) / 2 ** 48
  if (bucket < ratios.train) return 'train'
  return bucket < 1 - ratios.test ? 'validation' : 'test'
}

export function assertRatios({ train, validation, test }: SplitRatios): void {
  const valid = [train, validation, test].every((share) => share >= 0) && Math.abs(train + validation + test - 1) < 1e-9
  if (!valid)
    throw optionsInvalid(
      `Split ratios must be at least 0 and sum to 1; got train ${train}, validation ${validation}, test ${test}.`,
    )
}
