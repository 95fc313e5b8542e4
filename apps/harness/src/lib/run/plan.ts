import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { defineTasks, generateTasks, type Rows } from '@episodic/dataset'
import { readTasks } from '@episodic/dataset/jsonl'
import type { Task } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import type { World } from '../world.ts'
import type { RunConfiguration } from './configuration.ts'

/** One episode that is to be played. */
export interface PlannedEpisode {
  readonly task: Task
  /** Numbers the episodes of a task, from 0. */
  readonly attempt: number
}

/** The tasks of a run, one at a time, in an order that never changes. */
export function tasksOf(
  { tasks, seed, environment }: RunConfiguration,
  world: World,
  options: { readonly signal?: AbortSignal | undefined; readonly onTorn?: (line: number) => void } = {},
): AsyncIterable<Task> {
  return filtered(
    tasks.from === 'dataset'
      ? readTasks(tasks.file, { signal: options.signal, onTorn: ({ line }) => options.onTorn?.(line) })
      : generateTasks(world.tasks ?? defaultTasks(world), { seed, count: tasks.count, difficulty: tasks.difficulty }),
    tasks.split,
    environment,
  )
}

/** Every task `rollouts` times, streamed: a plan of a million episodes takes no more memory than one of ten. */
export async function* planOf(tasks: AsyncIterable<Task>, rollouts: number): AsyncGenerator<PlannedEpisode> {
  for await (const task of tasks) for (let attempt = 0; attempt < rollouts; attempt++) yield { task, attempt }
}

/** The SHA-256 of a file, in hexadecimal. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const block of createReadStream(file)) hash.update(block)
  } catch (cause) {
    throw new HarnessError('dataset-invalid', `The dataset ${file} cannot be read: ${(cause as Error).message}`, {
      cause,
    })
  }
  return hash.digest('hex')
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
