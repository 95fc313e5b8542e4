import { canonicalJson, contentId, type Json, type Task } from '@episodic/protocol'
import type { z } from 'zod'
import { DatasetError } from './dataset-error.ts'

/**
 * Decides what to play next. The choice depends only on the seed and on the calls so far, in their order. A run that
 * plays many tasks at once stays repeatable if it reports outcomes in the order of the draws.
 */
export interface Curriculum<State> {
  /** Draws the next task. Returns `null` when the curriculum is over. */
  next(): Task | null
  /**
   * Reports the outcome of an episode. Do not report a failed episode: a fault says nothing about the learner.
   *
   * @throws DatasetError `unknown-task` for a task that is not in the curriculum.
   */
  observe(taskId: string, success: boolean): void
  /** Returns the state as plain JSON. A curriculum that is created with it continues from here. */
  save(): State
}

/** Returns the tasks by id, in the order of ids, so that the order of a file has no effect. Throws `pool-invalid`. */
export function createPool(tasks: readonly Task[]): ReadonlyMap<string, Task> {
  const sorted = tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const pool = new Map(sorted.map((task) => [task.id, task]))
  if (pool.size === 0) throw new DatasetError('pool-invalid', 'A curriculum needs at least one task; it got none.')
  if (pool.size < tasks.length)
    throw new DatasetError(
      'pool-invalid',
      `A curriculum needs distinct tasks; ${tasks.length - pool.size} of ${tasks.length} repeat another's id.`,
    )
  return pool
}

export function assertInPool(pool: ReadonlyMap<string, Task>, taskId: string): void {
  if (!pool.has(taskId))
    throw new DatasetError(
      'unknown-task',
      `An outcome was reported for task ${taskId}, which this curriculum does not hold. Report ids that next() drew.`,
    )
}

/** Returns a hash of the tasks, the seed and the settings that a saved state belongs to. */
export function basisOf(pool: ReadonlyMap<string, Task>, settings: Json): string {
  return contentId(canonicalJson({ tasks: [...pool.keys()], settings }))
}

/** Throws `state-invalid`. */
export function restoreState<State extends { readonly basis: string }>(
  schema: z.ZodType<State>,
  state: State,
  basis: string,
): State {
  const read = schema.safeParse(state)
  if (!read.success)
    throw new DatasetError('state-invalid', 'The saved state is damaged. Start the curriculum without it.', {
      cause: read.error,
    })
  if (read.data.basis !== basis)
    throw new DatasetError(
      'state-invalid',
      'The saved state belongs to a curriculum with other tasks, settings or seed. Give it those it was saved with.',
    )
  return read.data
}
