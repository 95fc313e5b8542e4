import { generateTasks, type Rows } from '@episodic/dataset'
import type { BranchPoint } from '@episodic/env'
import { seedFor, type Task } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { countLeaves, type RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { episodeKey, type PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { defaultTasks } from '../../worlds/default-tasks.ts'
import { isServed, type PlayedWorld } from '../../worlds/served-world.ts'
import { tasksInFile } from '../../worlds/tasks-in-file.ts'
import type { Players } from '../users/checked-users.ts'
import { serverTasks } from './server-tasks.ts'

/**
 * Streams the tasks of a run, always in the same order.
 *
 * Throws `dataset-invalid` for a task of another environment or version, and for a dataset whose last line is torn.
 */
export function tasksOf(
  { tasks, seed, environment }: Pick<RunConfiguration, 'tasks' | 'seed' | 'environment'>,
  world: PlayedWorld,
  options: { readonly signal?: AbortSignal | undefined } = {},
): AsyncIterable<Task> {
  return ofSplit(
    tasks.from === 'dataset'
      ? tasksInFile(tasks.file, isServed(world) ? null : world.environment, {
          signal: options.signal,
          onTorn: ({ line }) => rejectTorn(tasks.file, line),
        })
      : isServed(world)
        ? serverTasks(world, { seed, count: tasks.count })
        : generateTasks(world.tasks ?? defaultTasks(world), { seed, count: tasks.count, difficulty: tasks.difficulty }),
    tasks.split,
    environment,
  )
}

function rejectTorn(file: string, line: number): never {
  throw new HarnessError(
    'dataset-invalid',
    `${file}, line ${line} is incomplete, as after a crash or on a full disk. Generate or copy the dataset again.`,
  )
}

/** Streams every task `rollouts` times, so that memory does not grow with the plan. */
export async function* planEpisodes(tasks: Rows<Task>, rollouts: number, from = 0): AsyncGenerator<PlannedEpisode> {
  let position = 0
  for await (const task of tasks) {
    for (let attempt = from; attempt < from + rollouts; attempt++) yield { task, attempt, position }
    position += 1
  }
}

/**
 * Streams every point `rollouts` times. The attempts of a task go on over its points, and each has new chance of its
 * own if any has.
 */
export async function* continuePoints(
  points: readonly PlannedEpisode[],
  rollouts: number,
): AsyncGenerator<PlannedEpisode> {
  for (const point of points)
    for (let i = 0; i < rollouts; i++) {
      const attempt = point.attempt * rollouts + i
      const seed = point.origin?.seed == null ? null : seedFor(point.origin.seed, point.task.id, attempt)
      yield { ...point, attempt, ...(point.origin && { origin: { ...point.origin, seed } }) }
    }
}

async function* ofSplit(rows: Rows<Task>, split: string | null, { name, version }: RunConfiguration['environment']) {
  for await (const task of rows) {
    if (task.environment.name !== name || task.environment.version !== version)
      throw new HarnessError(
        'dataset-invalid',
        `Task ${task.id} is for ${task.environment.name} ${task.environment.version}, and this run plays ${name} ${version}. Generate the dataset again.`,
      )
    if (split === null || task.split === split) yield task
  }
}

/**
 * Tasks that are kept in memory between their check and their play: some 2 kB each. Those of a longer plan are made
 * twice.
 */
const MOST_KEPT = 8_192

/**
 * Reads all tasks once, so that an invalid one is reported before anything is played. Throws `dataset-invalid`.
 *
 * @param tasks - returns the tasks from the first on.
 * @param run - says where they are from: generated tasks are distinct, so that their ids need not be kept.
 */
export async function checkTasks(tasks: () => AsyncIterable<Task>, run: RunConfiguration, players: Players) {
  const ids = run.tasks.from === 'dataset' ? new Set<string>() : null
  let count = 0
  let kept: Task[] | null = []
  for await (const task of tasks()) {
    const { id } = task
    // The id identifies the episodes of a task.
    if (ids?.has(id)) throw new HarnessError('dataset-invalid', `Two tasks have the id ${id}. Give each its own id.`)
    ids?.add(id)
    if (task.metadata.users) (await import('../users/checked-users.ts')).checkedUsers(players, { task })
    count += 1
    if (count > MOST_KEPT) kept = null
    kept?.push(task)
  }
  if (count === 0) throw new HarnessError('dataset-invalid', 'There is no task to play. Check --dataset and --split.')
  const again = kept
  return {
    count,
    /** Returns the tasks once more: from memory if they fit, otherwise from their source. */
    again: (): Rows<Task> => again ?? tasks(),
  }
}

/**
 * The part of a plan that is still to play: rollouts, of `leaves` episodes each, that lack at least one.
 *
 * @param nextTry - returns the number of the next play of an episode: 0 if it was never sealed, `null` if it is done.
 */
export async function* unsealed(
  plan: AsyncIterable<PlannedEpisode>,
  leaves: number,
  nextTry: (key: string) => number | null,
): AsyncGenerator<PlannedEpisode> {
  for await (const planned of plan) {
    const { task, attempt } = planned
    for (let leaf = 0; leaf < leaves; leaf++) {
      const next = nextTry(episodeKey({ task, attempt: attempt * leaves + leaf }))
      if (next === null) continue
      yield { ...planned, try: next }
      break
    }
  }
}

/** Returns the seed of the policy for an episode: another one for each try, and the environment's stays. */
export function policySeedOf(
  seed: string,
  { task, attempt, try: number = 0 }: Omit<PlannedEpisode, 'task'> & { readonly task: Pick<Task, 'id'> },
): string {
  const names = ['policy', task.id, attempt]
  return seedFor(seed, ...names, ...(number === 0 ? [] : ['try', number]))
}

/** Returns how many planned episodes may be in flight if `concurrency` episodes may: each makes a tree of `branch`. */
export function maxTasksInFlight(concurrency: number, branch: readonly Pick<BranchPoint, 'lines'>[] = []): number {
  return Math.max(1, Math.floor(concurrency / countLeaves(branch)))
}

/** Counts the leaves of a tree that come before those at the end of a path. */
export function countLeavesBefore(path: readonly number[], points: readonly BranchPoint[]): number {
  return path.reduce((count, line, i) => count + line * countLeaves(points.slice(i + 1)), 0)
}

/** Returns the limits that a run asks for in a task: a run can only lower the steps. */
export function limitsOf({ limits }: Pick<Task, 'limits'>, maxSteps: number | null): Task['limits'] {
  return maxSteps === null ? limits : { ...limits, steps: Math.min(limits.steps ?? maxSteps, maxSteps) }
}
