import { existsSync, readdirSync } from 'node:fs'
import { generateTasks, type Rows } from '@episodic/dataset'
import { type Connection, connect, runEpisode } from '@episodic/env'
import { type HarborTask, writeHarborTask } from '@episodic/export/harbor'
import { createHost, inProcess } from '@episodic/mcp-server'
import { tasksOf } from '@episodic/play/play/plan/plan'
import { defaultTasks } from '@episodic/play/worlds/default-tasks'
import type { TaskSource } from '@episodic/play/worlds/serve/served-tasks'
import { tasksInFile } from '@episodic/play/worlds/tasks-in-file'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import { type EpisodeRecord, isMatchRecord, type Split, type Task } from '@episodic/protocol'
import { HELD_OUT } from '@episodic/report/held-out/held-out'
import { plural } from '@episodic/report/text/format'
import { type Console, say, shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { makeFolder } from '@episodic/run/base/own-files'
import { findSealed, readRecorded } from '@episodic/run/folder/read-recorded'
import { holdsRun } from '@episodic/run/folder/record/run-folder'
import { loadRecordedWorld } from '../../evaluate/replay/recorded-world.ts'

const GENERATED = 20

export interface HarborOptions {
  readonly out: string
  readonly tasks?: TaskSource | undefined
  readonly split?: Split | undefined
  readonly heldOut?: boolean | undefined
  readonly world?: string | undefined
  readonly json?: boolean | undefined
}

/**
 * Writes the tasks of a world, or those of a run, as a folder of tasks for Harbor. The solution of a task is what the
 * world's solver does, or the episode of the run with the highest return.
 *
 * Rejects with `option-invalid` for an environment of several seats and for a folder that is not empty.
 */
export async function exportHarbor(reference: string, options: HarborOptions, console: Console): Promise<void> {
  const { out } = options
  if (existsSync(out) && readdirSync(out).length > 0)
    throw invalidOption(`${shownPath(out)} is not empty. Give a new folder as --out.`)
  const { world, tasks, solve } = holdsRun(reference)
    ? await ofRun(reference, options, console)
    : await ofWorld(reference, options)
  const { environment } = world
  if (environment.multiplayer)
    throw invalidOption(`A task of Harbor has one player, and ${environment.name} has several seats.`)
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const chosen: Task[] = []
  for await (const task of tasks) {
    if (options.split !== undefined && task.split !== options.split) continue
    if (!options.heldOut && task.tags.includes(HELD_OUT))
      throw invalidOption(`Task ${task.id} is held out from training. Give another --split, or --held-out.`)
    chosen.push(task)
  }
  makeFolder(out)
  let [written, solved] = [0, 0]
  for (const task of chosen) {
    const harborTask = await solve(task, connection)
    await writeHarborTask(out, environment, harborTask)
    written += 1
    if (harborTask.solution) solved += 1
  }
  if (options.json) console.out.write(`${JSON.stringify({ tasks: written, solutions: solved })}\n`)
  else
    say(console.err, `${plural(written, 'task')} exported to ${shownPath(out)} as harbor, ${solved} with a solution.`)
}

interface Source {
  readonly world: World
  readonly tasks: Rows<Task>
  solve(task: Task, connection: Connection): Promise<HarborTask>
}

async function ofWorld(reference: string, { tasks: from = GENERATED }: HarborOptions): Promise<Source> {
  const world = await loadWorld(reference)
  const { environment, solver } = world
  const tasks =
    typeof from === 'number'
      ? generateTasks(world.tasks ?? defaultTasks(world), { seed: 'harbor', count: from })
      : tasksInFile(from, environment)
  return {
    world,
    tasks,
    async solve(task, connection) {
      const { name, version } = task.environment
      if (name !== environment.name || version !== environment.version)
        throw new HarnessError(
          'dataset-invalid',
          `Task ${task.id} is for ${name} ${version}, and the world is ${environment.name} ${environment.version}.`,
        )
      if (!solver) return unsolved(task, connection)
      const createEnvironment = () => connection.environment(name)
      const episode = await runEpisode({ createEnvironment, policy: solver, task, policySeed: task.seed })
      if (episode.kind === 'failed') throw episode.cause
      const earned = episode.steps.reduce((sum, { reward }) => sum + reward.total, 0)
      const actions = episode.steps.map(({ action }) => action)
      return { task, observation: episode.start.observation.text, solution: { actions, earned } }
    },
  }
}

async function ofRun(run: string, { tasks: given, world: named }: HarborOptions, console: Console): Promise<Source> {
  if (given !== undefined) throw invalidOption('--tasks is for a world: a run has its own tasks. Leave --tasks out.')
  const sealed = await findSealed(run)
  const { file, manifest } = sealed
  const world = await loadRecordedWorld(sealed, named, (notice) => say(console.err, notice))
  const best = new Map<string, { readonly record: EpisodeRecord; readonly earned: number }>()
  for await (const { record } of readRecorded(file)) {
    // An episode of a tree may have gone on with another seed than its task's.
    if (isMatchRecord(record) || record.branch || record.outcome.kind !== 'finished') continue
    const earned = record.steps.reduce((sum, { reward }) => Object.values(reward.terms).reduce((a, b) => a + b, sum), 0)
    if (earned > (best.get(record.task.id)?.earned ?? Number.NEGATIVE_INFINITY))
      best.set(record.task.id, { record, earned })
  }
  return {
    world,
    tasks: tasksOf((manifest as NonNullable<typeof manifest>).configuration, world),
    async solve(task, connection) {
      const found = best.get(task.id)
      if (!found?.record.start) return unsolved(task, connection)
      const actions = found.record.steps.map(({ action }) => action)
      return { task, observation: found.record.start.observation.text, solution: { actions, earned: found.earned } }
    },
  }
}

async function unsolved(task: Task, connection: Connection): Promise<HarborTask> {
  await using environment = connection.environment(task.environment.name)
  return { task, observation: (await environment.reset(task)).observation.text, solution: null }
}
