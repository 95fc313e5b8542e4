import type { Split, Task } from '@episodic/protocol'
import { type DifficultyRange, isInRange } from './difficulty-range.ts'

/** A condition on tasks. Every part is optional. */
export interface TaskFilter {
  readonly split?: Split
  /** Tags that a task must have, all of them. */
  readonly tags?: readonly string[]
  readonly difficulty?: DifficultyRange
}

export function matchesTask(task: Task, { split, tags = [], difficulty }: TaskFilter): boolean {
  return (
    (split === undefined || task.split === split) &&
    (difficulty === undefined || isInRange(task.difficulty, difficulty)) &&
    tags.every((tag) => task.tags.includes(tag))
  )
}
