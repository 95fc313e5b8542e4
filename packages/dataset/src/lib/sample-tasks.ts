import { createRng, type Split, seedFor, type Task } from '@episodic/protocol'
import { optionsInvalid } from './dataset-error.ts'
import { assertRange, type DifficultyRange, isInRange } from './difficulty-range.ts'
import type { Rows } from './rows.ts'

export interface SampleOptions extends TaskFilter {
  /** How many tasks to take. Fewer are returned if fewer match. */
  readonly count: number
  /** The same seed and rows return the same sample. */
  readonly seed: string
}

/**
 * Takes a uniform sample without replacement, in one pass and with memory for `count` rows. The sample is in the
 * order of the rows.
 *
 * Algorithm R: J. S. Vitter, "Random sampling with a reservoir", ACM TOMS 11(1), 1985.
 */
export async function sampleTasks(rows: Rows<Task>, { count, seed, ...filter }: SampleOptions): Promise<Task[]> {
  if (!Number.isSafeInteger(count) || count < 0)
    throw optionsInvalid(`A count of tasks is a whole number from 0 up; got ${count}.`)
  if (filter.difficulty) assertRange(filter.difficulty, 'sampleTasks')
  const rng = createRng(seedFor(seed, 'sample'))
  const reservoir: { readonly position: number; readonly task: Task }[] = []
  let matched = 0
  for await (const task of rows) {
    if (!matchesTask(task, filter)) continue
    const slot = matched < count ? matched : rng.int(0, matched)
    if (slot < count) reservoir[slot] = { position: matched, task }
    matched += 1
  }
  return reservoir.sort((a, b) => a.position - b.position).map(({ task }) => task)
}

interface TaskFilter {
  readonly split?: Split
  /** Tags that a task must have, all of them. */
  readonly tags?: readonly string[]
  readonly difficulty?: DifficultyRange
}

function matchesTask(task: Task, { split, tags = [], difficulty }: TaskFilter): boolean {
  return (
    (split === undefined || task.split === split) &&
    (difficulty === undefined || isInRange(task.difficulty, difficulty)) &&
    tags.every((tag) => task.tags.includes(tag))
  )
}
