import { createStagedCurriculum, DatasetError, type Rows } from '@episodic/dataset'
import { seedFor, type Task } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import type { Stages } from '@episodic/run/folder/plan/curriculum-settings'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'

/**
 * Plans the rollouts of the tasks that stages draw, each with the number of its draw. Keeps all tasks in memory. The
 * attempts of a task that is drawn again are numbered on.
 *
 * Rejects with `option-invalid` if the stages cannot be made of these tasks, for example if one has none.
 */
export async function planStages(
  { stages }: Stages,
  { seed, rollouts }: Pick<RunConfiguration, 'seed' | 'rollouts'>,
  tasks: Rows<Task>,
): Promise<AsyncGenerator<PlannedEpisode>> {
  const curriculum = await createCurriculum(stages, seedFor(seed, 'curriculum'), tasks)
  return (async function* () {
    const drawn = new Map<string, number>()
    let draw = 0
    for (const { name: stage, episodes } of stages)
      for (const end = draw + episodes; draw < end; draw++) {
        const task = curriculum.next() as Task
        const first = drawn.get(task.id) ?? 0
        drawn.set(task.id, first + rollouts)
        for (let rollout = 0; rollout < rollouts; rollout++)
          yield { task, attempt: first + rollout, position: draw, curriculum: { draw, stage } }
      }
  })()
}

async function createCurriculum(stages: Stages['stages'], seed: string, tasks: Rows<Task>) {
  const pool: Task[] = []
  for await (const task of tasks) pool.push(task)
  try {
    return createStagedCurriculum(stages, pool, { seed })
  } catch (cause) {
    if (!DatasetError.is(cause)) throw cause
    throw invalidOption(cause.message, { cause })
  }
}
