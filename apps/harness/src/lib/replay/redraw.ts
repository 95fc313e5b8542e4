import type { SealedRecord, Task } from '@episodic/protocol'
import { countLeaves, type RunConfiguration } from '../run/plan/configuration.ts'
import type { CurriculumConfiguration } from '../run/plan/curriculum-settings.ts'
import { createDrawnPlan } from '../run/plan/drawn-plan.ts'
import { episodeKey } from '../run/plan/plan.ts'

/** What came of drawing the tasks of a run again. */
export interface Redrawn {
  /** Episodes that are where the curriculum draws them from the outcomes before. */
  readonly drawn: number
  /** Episodes that are not. */
  readonly misdrawn: number
  /** The first draw that differs; `null` if none does. */
  readonly first: {
    /** From 0. */
    readonly draw: number
    /** The id of the task that its lines are of; `null` if no line is of this draw. */
    readonly recorded: string | null
    /** The id of the task that the curriculum draws; `null` for nothing, as an outcome that it needs is missing. */
    readonly planned: string | null
  } | null
}

/** Draws the tasks of a run with a curriculum again, from the outcomes of its sealed lines. */
export interface Redraw {
  /** Adds a sealed line. */
  add(record: SealedRecord): void
  /** Compares the lines with what the curriculum draws. After all lines. */
  finish(): Promise<Redrawn>
}

/**
 * Creates a redraw without lines. It keeps the tasks of the run, and the place of each episode in memory. Rejects like
 * {@link createDrawnPlan}.
 */
export async function createRedraw(
  configuration: RunConfiguration & { readonly curriculum: CurriculumConfiguration },
  tasks: AsyncIterable<Task>,
): Promise<Redraw> {
  const plan = await createDrawnPlan(configuration, tasks)
  const leaves = countLeaves(configuration.branch)
  /** Where each episode says that it was drawn, by its name. */
  const places = new Map<string, { readonly draw: number; readonly stage: string | null; readonly task: string }>()
  return {
    add(record) {
      const { task, attempt, curriculum } = record
      plan.note(record)
      places.set(episodeKey({ task, attempt }), { draw: -1, stage: null, ...curriculum, task: task.id })
    },
    async finish() {
      const recordedAt = new Map([...places.values()].map(({ draw, task }) => [draw, task]))
      let drawn = 0
      let first: Redrawn['first'] = null
      for await (const { task, attempt, curriculum } of plan.episodes())
        for (let leaf = attempt * leaves; leaf < (attempt + 1) * leaves; leaf++) {
          const key = episodeKey({ task, attempt: leaf })
          const place = places.get(key)
          const { draw = 0, stage = null } = curriculum ?? {}
          const isThere = place?.draw === draw && place.stage === stage
          if (isThere && places.delete(key)) drawn += 1
          // An episode that is missing is no fault of the plan, unless another one is in its place.
          else if (place || (recordedAt.get(draw) ?? task.id) !== task.id)
            first ??= { draw, recorded: recordedAt.get(draw) ?? null, planned: task.id }
        }
      const [left] = [...places.values()].sort((a, b) => a.draw - b.draw)
      if (left) first ??= { draw: left.draw, recorded: left.task, planned: null }
      return { drawn, misdrawn: places.size, first }
    },
  }
}
