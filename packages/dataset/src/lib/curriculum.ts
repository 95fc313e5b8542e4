import { canonicalJson, contentId, type Json, type Task } from '@episodic/protocol'
import type { z } from 'zod'
import { DatasetError } from './dataset-error.ts'

/**
 * Decides what to play next. The choice follows from the seed and from the calls so far, in their order, and from
 * nothing else; whoever plays many tasks at once keeps it repeatable by reporting outcomes in the order of the draws.
 */
export interface Curriculum<State> {
  /** Draws the next task, or `null` when the curriculum is over. */
  next(): Task | null
  /**
   * Reports how one play of a task went. An episode that failed through a fault of ours is no outcome: leave it out.
   *
   * @throws DatasetError `unknown-task` for a task that the curriculum does not hold.
   */
  observe(taskId: string, success: boolean): void
  /** Where the curriculum stands, as plain JSON. Created anew with it, the curriculum goes on as if never stopped. */
  save(): State
}

/** The tasks by id, in the order of ids, so that the order of a file decides nothing. Throws `pool-invalid`. */
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

/** Names what a saved state belongs to: the tasks, the seed and the settings. */
export function basisOf(pool: ReadonlyMap<string, Task>, settings: Json): string {
  return contentId(canonicalJson({ tasks: [...pool.keys()], settings }))
}

/** Reads a saved state, which may come from a file. Throws `state-invalid`. */
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
