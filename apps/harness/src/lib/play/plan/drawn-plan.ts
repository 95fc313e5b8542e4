import { type Curriculum, createAdaptiveCurriculum, createStagedCurriculum, DatasetError } from '@episodic/dataset'
import { type SealedRecord, seedFor, type Task } from '@episodic/protocol'
import { isSuccess, seatRecordOf } from '@episodic/report'
import { invalidOption } from '../../base/harness-error.ts'
import { countLeaves, type RunConfiguration } from '../../run-folder/plan/configuration.ts'
import type { CurriculumConfiguration } from '../../run-folder/plan/curriculum-settings.ts'
import type { PlannedEpisode } from '../../run-folder/plan/planned-episode.ts'
import { episodeKey } from './plan.ts'

/**
 * Creates the plan of a run whose tasks a curriculum draws, and keeps all of its tasks in memory. Rejects with
 * `option-invalid` if the curriculum cannot be made of these tasks, for example for a stage without any.
 *
 * Outcomes reach the curriculum in the order of the draws, those of one draw in the order of their attempts, and
 * exactly `lag` draws late: before draw n those of draw n − `lag`. So the plan follows from the configuration and from
 * the outcomes, and neither from the order in which episodes end, nor from concurrency, nor from where an interrupted
 * run stopped.
 *
 * An outcome is that of the first play of an episode. A first play that failed has none, also if a later one succeeds:
 * otherwise the draws after it would follow from when it was played again.
 */
export async function createDrawnPlan(
  { curriculum: settings, seed, rollouts, branch, focus }: DrawnConfiguration,
  tasks: AsyncIterable<Task>,
) {
  const pool: Task[] = []
  for await (const task of tasks) pool.push(task)
  const curriculum = createCurriculum(settings, pool, seedFor(seed, 'curriculum'))
  const stageOf = settings.kind === 'staged' ? stagesOf(settings.stages) : () => null
  // Outcomes do not change what a stage draws.
  const lag = settings.kind === 'adaptive' ? settings.lag : Number.POSITIVE_INFINITY
  const draws = settings.kind === 'adaptive' ? settings.draws : Number.POSITIVE_INFINITY
  const leaves = countLeaves(branch)
  /** Whether each episode succeeded; `null` for a failure. */
  const outcomes = new Map<string, boolean | null>()
  const playing = new Set<string>()
  let changed = Promise.withResolvers<void>()
  const change = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }

  /** Gives the curriculum the outcomes of a draw. Resolves with `false` if they are missing, and nothing is played. */
  const observe = async ({ task, first }: Draw): Promise<boolean> => {
    for (let attempt = first * leaves; attempt < (first + rollouts) * leaves; attempt++) {
      const key = episodeKey({ task, attempt })
      while (!outcomes.has(key)) {
        if (playing.size === 0) return false
        await changed.promise
      }
      const success = outcomes.get(key)
      outcomes.delete(key)
      if (typeof success === 'boolean') curriculum.observe(task.id, success)
    }
    return true
  }

  return {
    /**
     * Yields the rollouts of the drawn tasks, each with the number of its draw. Ends after the last draw, and before a
     * draw whose outcomes are missing while no episode is being played: one was dropped, and a resumed run plays it.
     */
    async *episodes(): AsyncGenerator<PlannedEpisode> {
      const drawn = new Map<string, number>()
      const awaited: Draw[] = []
      for (let number = 0; number < draws; number++) {
        if (awaited.length === lag && !(await observe(awaited.shift() as Draw))) return
        const task = curriculum.next()
        if (!task) return
        const first = drawn.get(task.id) ?? 0
        drawn.set(task.id, first + rollouts)
        if (Number.isFinite(lag)) awaited.push({ task, first })
        const place = { draw: number, stage: stageOf(number) }
        for (let rollout = 0; rollout < rollouts; rollout++)
          yield { task, attempt: first + rollout, position: number, curriculum: place }
      }
    },
    /** Passes on the part of the plan that is to be played, and waits for the end of what it has passed on. */
    async *played(missing: AsyncIterable<PlannedEpisode>): AsyncGenerator<PlannedEpisode> {
      for await (const planned of missing) {
        playing.add(episodeKey(planned))
        yield planned
      }
    },
    /** Says that an episode has ended, and that its outcome is known if it has one. */
    ended(planned: PlannedEpisode): void {
      playing.delete(episodeKey(planned))
      change()
    },
    /** Notes the outcome of a sealed episode. */
    note(record: SealedRecord): void {
      if (!Number.isFinite(lag) || record.try > 0) return
      const own = seatRecordOf(record, focus)
      outcomes.set(episodeKey(record), own.outcome.kind === 'failed' ? null : isSuccess(own))
      change()
    },
  }
}

type DrawnConfiguration = Pick<RunConfiguration, 'seed' | 'rollouts' | 'branch' | 'focus'> & {
  readonly curriculum: CurriculumConfiguration
}

/** A drawn task, and the number of its first rollout among those of the task. */
interface Draw {
  readonly task: Task
  readonly first: number
}

function createCurriculum(
  settings: CurriculumConfiguration,
  tasks: readonly Task[],
  seed: string,
): Pick<Curriculum<unknown>, 'next' | 'observe'> {
  try {
    if (settings.kind === 'staged') return createStagedCurriculum(settings.stages, tasks, { seed })
    const { target, explore, focus } = settings
    if (focus !== null && focus > tasks.length)
      throw invalidOption(
        `--adaptive focus=${focus} draws from more tasks than there are: ${tasks.length}. Give fewer, or more --tasks.`,
      )
    return createAdaptiveCurriculum(tasks, { seed, target, explore, ...(focus !== null && { focus }) })
  } catch (cause) {
    if (!DatasetError.is(cause)) throw cause
    throw invalidOption(cause.message, { cause })
  }
}

/** Returns a function from the number of a draw to the name of its stage. */
function stagesOf(stages: Extract<CurriculumConfiguration, { kind: 'staged' }>['stages']): (draw: number) => string {
  const ends: { readonly name: string; readonly end: number }[] = []
  for (const { name, episodes } of stages) ends.push({ name, end: (ends.at(-1)?.end ?? 0) + episodes })
  return (draw) => ends.find(({ end }) => draw < end)?.name ?? ''
}
