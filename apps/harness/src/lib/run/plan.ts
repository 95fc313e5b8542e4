import { defineTasks, generateTasks, type Rows } from '@episodic/dataset'
import { readTasks } from '@episodic/dataset/jsonl'
import type { Task } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import type { World } from '../world.ts'
import type { RunConfiguration } from './configuration.ts'

/** One episode that is to be played, or one tree of episodes. */
export interface PlannedEpisode {
  readonly task: Task
  /** Numbers those of a task, from 0. */
  readonly attempt: number
}

/**
 * The tasks of a run, one at a time, in an order that never changes.
 *
 * Throws `dataset-invalid` for a task of another environment or version, and for a dataset that was cut short: it is
 * not what it was made to be.
 */
export function tasksOf(
  { tasks, seed, environment }: Pick<RunConfiguration, 'tasks' | 'seed' | 'environment'>,
  world: World,
  options: { readonly signal?: AbortSignal | undefined } = {},
): AsyncIterable<Task> {
  return filtered(
    tasks.from === 'dataset'
      ? readTasks(tasks.file, { signal: options.signal, onTorn: ({ line }) => refuseTorn(tasks.file, line) })
      : generateTasks(world.tasks ?? defaultTasks(world), { seed, count: tasks.count, difficulty: tasks.difficulty }),
    tasks.split,
    environment,
  )
}

function refuseTorn(file: string, line: number): never {
  throw new HarnessError(
    'dataset-invalid',
    `${file}, line ${line} is cut short, as by a crash or a full disk. Generate or copy the dataset anew.`,
  )
}

/** Every task `rollouts` times, streamed: a plan of a million episodes takes no more memory than one of ten. */
export async function* planOf(tasks: AsyncIterable<Task>, rollouts: number): AsyncGenerator<PlannedEpisode> {
  for await (const task of tasks) for (let attempt = 0; attempt < rollouts; attempt++) yield { task, attempt }
}

/** Tasks of a world that brings no generator: its default parameters under one seed after another. */
function defaultTasks({ environment }: World) {
  return defineTasks({
    name: `${environment.name}-defaults`,
    environment,
    generate: () => ({ prompt: environment.description, params: {}, difficulty: 0 }),
  })
}

async function* filtered(rows: Rows<Task>, split: string | null, { name, version }: RunConfiguration['environment']) {
  for await (const task of rows) {
    if (task.environment.name !== name || task.environment.version !== version)
      throw new HarnessError(
        'dataset-invalid',
        `Task ${task.id} is for ${task.environment.name} ${task.environment.version}, and this run plays ${name} ${version}. Generate the dataset anew.`,
      )
    if (split === null || task.split === split) yield task
  }
}
