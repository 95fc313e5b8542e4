import { type JsonObject, type Split, type Task, WireError } from '@episodic/protocol'

type Rows = readonly Task[]

export type TaskIndex = ReturnType<typeof createTaskIndex>

const SPLITS: readonly Split[] = ['train', 'validation', 'test']

/** The tasks that a server offers, by environment, split and place in the split. */
export function createTaskIndex(tasks: readonly Task[]) {
  const groups = Map.groupBy(tasks, ({ environment, split }) => `${environment.name} ${split}`)
  const rowsOf = (environment: string, split: unknown): Rows => {
    const rows = groups.get(`${environment} ${split}`)
    if (rows) return rows
    const known = splitsOf(environment)
    throw new WireError(
      'invalid-params',
      known.length > 0
        ? `There is no split ${JSON.stringify(split)} of ${environment}. There is: ${known.join(', ')}.`
        : `This server has no tasks of ${environment}.`,
    )
  }
  const splitsOf = (environment: string) => SPLITS.filter((split) => groups.has(`${environment} ${split}`))
  return {
    /** Returns the splits that have tasks of an environment, `train` first. */
    splitsOf,
    /** Returns how many tasks a split has. Throws `invalid-params` for a split without tasks. */
    count: (environment: string, split: unknown) => rowsOf(environment, split).length,
    /** Returns one task. Throws `invalid-params` for an unknown split or an index out of range. */
    task(environment: string, split: unknown, index: unknown) {
      const rows = rowsOf(environment, split)
      const task = Number.isSafeInteger(index) ? rows.at(index as number) : undefined
      if (task) return task
      throw new WireError(
        'invalid-params',
        `There is no task ${JSON.stringify(index)} in split ${split}: it has ${rows.length}, from 0.`,
      )
    },
    /**
     * Returns the tasks from `start` (default 0) up to `stop` (default: all), excluding `stop`; indices below 0 count
     * from the end. Throws `invalid-params` for an unknown split, and for bounds that are no whole numbers.
     */
    range(environment: string, split: unknown, start?: unknown, stop?: unknown) {
      const rows = rowsOf(environment, split)
      return rows.slice(boundOf(start, 0), boundOf(stop, rows.length))
    },
  }
}

function boundOf(bound: unknown, missing: number): number {
  if (bound === undefined || bound === null) return missing
  if (Number.isSafeInteger(bound)) return bound as number
  throw new WireError('invalid-params', `A range of tasks has whole numbers; got ${JSON.stringify(bound)}.`)
}

/** Returns a task as a row for trainers, which they send back when they open it. */
export function rowOf(task: Task): JsonObject {
  const { id, environment, prompt, hints, params, seed, limits, difficulty, split, tags, metadata } = task
  return {
    id,
    environment: environment.name,
    prompt,
    hints: [...hints],
    params,
    seed,
    limits: { ...limits } as JsonObject,
    difficulty,
    split,
    tags: [...tags],
    metadata,
  }
}

type TaskRoute = (tasks: TaskIndex, environment: string, body: JsonObject) => object

/** What OpenEnv and the Open Reward Standard answer at the same paths. Each throws as the index does. */
export const TASK_ROUTES: { readonly [path: string]: TaskRoute } = {
  tasks: (tasks, name, { split }) => ({ tasks: tasks.range(name, split).map(rowOf), env_name: name }),
  num_tasks: (tasks, name, { split }) => ({ num_tasks: tasks.count(name, split) }),
  task: (tasks, name, { split, index }) => ({ task: rowOf(tasks.task(name, split, index)), env_name: name }),
  task_range: (tasks, name, { split, start, stop }) => {
    return { tasks: tasks.range(name, split, start, stop).map(rowOf), env_name: name }
  },
}

export function listSplits(tasks: TaskIndex, environment: string) {
  return tasks.splitsOf(environment).map((split) => ({ name: split, type: split }))
}
