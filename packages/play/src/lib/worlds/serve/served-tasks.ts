import { generateTasks } from '@episodic/dataset'
import type { HttpOptions } from '@episodic/mcp-server/http'
import type { Task } from '@episodic/protocol'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
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

/**
 * Reads the only task in a file, as the session of a server. Rejects with `option-invalid` for a file of more tasks or
 * none, and with the errors of {@link servedTasks}.
 */
export async function readTaskSession(
  worlds: readonly World[],
  file: string,
): Promise<NonNullable<HttpOptions['session']>> {
  const [task, ...more] = await servedTasks(worlds, file)
  if (!task || more.length > 0)
    throw invalidOption(`--task ${file} has to hold one task, and holds ${task ? more.length + 1 : 'none'}.`)
  const { environment, params, seed, limits } = task
  return { environment: environment.name, version: environment.version, params, seed, limits }
}
