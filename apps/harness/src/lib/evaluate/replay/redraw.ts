import type { SealedRecord, Task } from '@episodic/protocol'
import { createDrawnPlan } from '../../play/plan/drawn-plan.ts'
import { episodeKey } from '../../play/plan/plan.ts'
import { countLeaves, type RunConfiguration } from '../../run-folder/plan/configuration.ts'
import type { CurriculumConfiguration } from '../../run-folder/plan/curriculum-settings.ts'

export interface Redrawn {
  /** Episodes that are where the curriculum draws them from the outcomes before. */
  readonly drawn: number
  readonly misdrawn: number
  /** The first draw that differs; `null` if none does. */
  readonly first: {
    /** From 0. */
    readonly draw: number
    /** What the curriculum draws; `null` for nothing, as an outcome that it needs is missing. */
    readonly planned: DrawnEpisode | null
    /** The line of the planned episode, or a line that says it is of this draw; `null` if there is neither. */
    readonly recorded: DrawnEpisode | null
  } | null
}

export interface DrawnEpisode {
  readonly task: string
  readonly attempt: number
  /** From 0; -1 if its line has no draw. */
  readonly draw: number
  readonly stage: string | null
}

export type Redraw = Awaited<ReturnType<typeof createRedraw>>

/**
 * Creates a redraw without lines. It keeps the tasks of the run, and the place of each episode in memory. Rejects like
 * {@link createDrawnPlan}.
 */
export async function createRedraw(
  configuration: RunConfiguration & { readonly curriculum: CurriculumConfiguration },
  tasks: AsyncIterable<Task>,
) {
  const plan = await createDrawnPlan(configuration, tasks)
  const leaves = countLeaves(configuration.branch)
  /** Where each episode says that it was drawn, by its name. */
  const places = new Map<string, DrawnEpisode>()
  return {
    add(record: SealedRecord): void {
      const { task, attempt, curriculum } = record
      plan.note(record)
      places.set(episodeKey({ task, attempt }), { draw: -1, stage: null, ...curriculum, task: task.id, attempt })
    },
    /** Compares the lines with what the curriculum draws. After all lines. */
    async finish(): Promise<Redrawn> {
      const recordedAt = new Map([...places.values()].map((place) => [place.draw, place]))
      let drawn = 0
      let first: Redrawn['first'] = null
      for await (const { task, attempt, curriculum } of plan.episodes())
        for (let leaf = attempt * leaves; leaf < (attempt + 1) * leaves; leaf++) {
          const key = episodeKey({ task, attempt: leaf })
          const place = places.get(key)
          const { draw = 0, stage = null } = curriculum ?? {}
          const isThere = place?.draw === draw && place.stage === stage
          const recorded = place ?? recordedAt.get(draw) ?? null
          if (isThere && places.delete(key)) drawn += 1
          // An episode that is missing is no fault of the plan, unless another one is in its place.
          else if (place || (recorded && recorded.task !== task.id))
            first ??= { draw, planned: { task: task.id, attempt: leaf, draw, stage }, recorded }
        }
      const [left] = [...places.values()].sort((a, b) => a.draw - b.draw)
      if (left) first ??= { draw: left.draw, planned: null, recorded: left }
      return { drawn, misdrawn: places.size, first }
    },
  }
}
