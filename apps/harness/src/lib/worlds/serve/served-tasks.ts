import { generateTasks } from '@episodic/dataset'
import type { Task } from '@episodic/protocol'
import { HarnessError } from '@episodic/runs/base/harness-error'
import { defaultTasks } from '../default-tasks.ts'
import { tasksInFile } from '../tasks-in-file.ts'
import type { World } from '../world.ts'

/** Where the tasks of a server come from: a file, or the number to generate for each world. */
export type TaskSource = string | number

/**
 * Returns the tasks that trainers can list. Generated ones are the same each time; a world without a generator has its
 * default parameters with different seeds. Rejects with `dataset-invalid` for a task of an environment that is not
 * served, and with the errors of the dataset.
 */
export async function servedTasks(worlds: readonly World[], source: TaskSource): Promise<readonly Task[]> {
  if (typeof source === 'number')
    return worlds.flatMap((world) => [
      ...generateTasks(world.tasks ?? defaultTasks(world), { seed: 'serve', count: source }),
    ])
  const tasks: Task[] = []
  const only = worlds.length === 1 ? (worlds[0] as World).environment : null
  for await (const task of tasksInFile(source, only)) {
    const { name, version } = task.environment
    if (!worlds.some(({ environment }) => environment.name === name && environment.version === version))
      throw new HarnessError(
        'dataset-invalid',
        `Task ${task.id} of ${source} is for ${name} ${version}, which is not served. Serve it too, or generate the dataset again.`,
      )
    tasks.push(task)
  }
  return tasks
}
